"""An ActiveCheck: whether it can run, and what it may do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npa.crds.activecheck import ActiveCheck
from npa.crds.rules.found import problem
from npa.errors import Problem

CRON_JOB = 52  # characters of a CronJob's name: its jobs add eleven
INITIAL_RUN = "-initial-run"

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_CRON = re.compile(r"(@[a-z]+|(\S+\s+){4}\S+)")


def it_can_be_named(check: ActiveCheck) -> Iterator[Problem]:
    """The names of its jobs are made of its own."""
    name, most = check.spec.name, 63 - len(INITIAL_RUN)
    if not _LABEL.fullmatch(name) or len(name) > most:
        text = f"{name[:60]!r} cannot begin the name of a job"
        yield problem("spec.name", text, f"use at most {most} lower-case letters, digits and hyphens")
    if len(check.name) > CRON_JOB:
        text = f"has {len(check.name)} characters"
        yield problem("metadata.name", text, f"choose a name of at most {CRON_JOB} characters")


def it_says_what_runs(check: ActiveCheck) -> Iterator[Problem]:
    """A check has the job of its type, with one script at most."""
    spec = check.spec
    held = {"k8sJob": spec.k8s_job_spec, "slurmJob": spec.slurm_job_spec}
    if held[spec.check_type] is None:
        text = f"is required with checkType {spec.check_type}"
        yield problem(f"spec.{spec.check_type}Spec", text, "say what runs")
    slurm = spec.slurm_job_spec
    if slurm is None or spec.check_type != "slurmJob":
        return
    given = (bool(slurm.sbatch_script), bool(slurm.sbatch_script_ref_name))
    if given == (True, True):
        yield problem("spec.slurmJobSpec.sbatchScript", "there are two scripts", "keep one of them")
    elif given == (False, False):
        text = "there is no script"
        yield problem("spec.slurmJobSpec.sbatchScript", text, "give it, or `sbatchScriptRefName`")
    if slurm.max_number_of_jobs < 0:
        text = f"{slurm.max_number_of_jobs} is no count"
        yield problem("spec.slurmJobSpec.maxNumberOfJobs", text, "write 0 for all")


def it_has_one_reaction(check: ActiveCheck) -> Iterator[Problem]:
    """A node is drained or commented, as the second would overwrite what the first says."""
    for key, reactions in (
        ("successReactions", check.spec.success_reactions),
        ("failureReactions", check.spec.failure_reactions),
    ):
        if reactions and reactions.drain_slurm_node and reactions.comment_slurm_node:
            yield problem(f"spec.{key}", "drains and comments", "keep one of them")


def it_can_begin(check: ActiveCheck) -> Iterator[Problem]:
    """It does not wait for itself, and is due at times that there are."""
    spec = check.spec
    if check.name in spec.depends_on:
        yield problem("spec.dependsOn", "it depends on itself", f"remove {check.name!r}")
    if not _CRON.fullmatch(spec.schedule.strip()):
        text = f"{spec.schedule[:60]!r} is no schedule"
        yield problem("spec.schedule", text, "write five fields, as in `0 3 * * *`")
    if spec.active_deadline_seconds <= 0:
        text = f"{spec.active_deadline_seconds} is no time"
        yield problem("spec.activeDeadlineSeconds", text, "write more than 0")
