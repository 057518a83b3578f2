/*
 * PAM session module that runs a login in the jail.
 *
 *   /etc/pam.d/sshd, last of the session lines:  session required /usr/lib/npa/pam_jail.so /mnt/jail
 *
 * sshd opens the PAM session in the privileged process of that one connection, before it becomes the user;
 * the listening sshd keeps its root.
 */
#define PAM_SM_SESSION
#include <errno.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <string.h>
#include <syslog.h>

#include "enter.h"

int pam_sm_open_session(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
	const char *failed;

	(void)flags;
	if (argc != 1) {
		pam_syslog(pamh, LOG_ERR, "want one argument, the jail's path, got %d", argc);
		return PAM_SESSION_ERR;
	}
	failed = jail_enter(argv[0]);
	if (failed) {
		pam_syslog(pamh, LOG_ERR, "%s for %s: %s", failed, argv[0], strerror(errno));
		return PAM_SESSION_ERR;
	}
	return PAM_SUCCESS;
}

int pam_sm_close_session(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
	(void)pamh, (void)flags, (void)argc, (void)argv;
	return PAM_SUCCESS;
}
