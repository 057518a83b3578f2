/*
 * SPANK plugin that runs job steps in the jail.
 *
 *   plugstack.conf:  required /usr/lib/npa/spank_jail.so /mnt/jail
 *
 * It works in slurmstepd before standard output files are opened, so `--output` and the working directory
 * are paths in the jail too, and after slurmd has forked, so slurmd itself never leaves its root. All
 * plugins of the stack are loaded by then: nothing in the jail is ever loaded into a daemon.
 */
#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/spank.h>
#include <string.h>

#include "enter.h"

SPANK_PLUGIN(jail, 1);

int slurm_spank_init_post_opt(spank_t spank, int argc, char *argv[])
{
	uint32_t step;
	const char *failed;

	if (spank_context() != S_CTX_REMOTE)
		return ESPANK_SUCCESS;
	if (argc != 1) {
		slurm_error("jail: plugstack.conf gives %d arguments, want one: the jail's path", argc);
		return ESPANK_BAD_ARG;
	}
	if (spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS) {
		slurm_error("jail: cannot tell the step's id");
		return ESPANK_ERROR;
	}
	/* The extern step holds the job's cgroup and runs nothing of the user's. */
	if (step == SLURM_EXTERN_CONT)
		return ESPANK_SUCCESS;
	failed = jail_enter(argv[0]);
	if (failed) {
		slurm_error("jail: %s for %s: %s", failed, argv[0], strerror(errno));
		return ESPANK_ERROR;
	}
	return ESPANK_SUCCESS;
}
