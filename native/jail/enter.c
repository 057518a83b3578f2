#define _GNU_SOURCE
#include "enter.h"

#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *jail_enter(const char *jail)
{
	/* unshare(2): CLONE_NEWNS implies CLONE_FS, so in a threaded process it is this thread's alone. */
	if (unshare(CLONE_NEWNS))
		return "unshare";
	/* slave: what the node mounts later still arrives, what we do here never leaves. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
		return "mount";
	if (chdir(jail))
		return "chdir";
	/* pivot_root(2), "pivot_root(".", ".")": the old root ends up on top of the new one, then goes. */
	if (syscall(SYS_pivot_root, ".", "."))
		return "pivot_root";
	if (umount2(".", MNT_DETACH))
		return "umount2";
	if (chdir("/"))
		return "chdir to /";
	return NULL;
}
