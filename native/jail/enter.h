/* Entering the jail: the one thing that the SPANK plugin and the PAM module have in common. */
#ifndef NPA_JAIL_ENTER_H
#define NPA_JAIL_ENTER_H

/*
 * Makes `jail` the root of the calling thread and of all that it forks.
 *
 * The thread gets a mount namespace of its own, so the caller's other threads and processes keep their
 * root. The old root is detached: no path, not even root's second chroot(2), leads back to it.
 * `jail` must be a mount point. Mounts below it come along.
 *
 * Returns NULL, or the name of the call that failed with errno set; the root is then as it was, or the
 * process must end.
 */
const char *jail_enter(const char *jail);

#endif
