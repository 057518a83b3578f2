"""ActiveCheck: a check that runs as a job of Kubernetes or of Slurm."""

from __future__ import annotations

from typing import Annotated, Literal

from npa.crds import resource
from npa.crds.base import Int32, Int64, Items, Moment, Part, Raw, says
from npa.crds.parts import NamedVolume, PullPolicy, Scheduled, Status
from npa.crds.resource import Object, Resource

CheckType = Literal["k8sJob", "slurmJob"]


class CheckContainer(Part):
    """A container of a check."""

    image: Annotated[str, says("image of the container", written=False)] = ""
    image_pull_policy: Annotated[PullPolicy, says("when the image is pulled")] = "IfNotPresent"
    image_pull_secrets: Annotated[Items[Raw], says("secrets that allow the image to be pulled")] = ()
    command: Annotated[Items[str], says("command instead of the image's own")] = ()
    args: Annotated[Items[str], says("arguments instead of the image's own")] = ()
    env: Annotated[Items[Raw], says("environment variables")] = ()
    working_dir: Annotated[str, says("folder that it starts in", written=False)] = ""
    volumes: Annotated[Items[NamedVolume], says("volumes of the pod")] = ()
    volume_mounts: Annotated[Items[Raw], says("where the volumes are mounted")] = ()
    app_armor_profile: Annotated[
        str, says("AppArmor profile: unconfined, runtime/default or localhost/NAME")
    ] = "unconfined"


class KubernetesJob(Part):
    """A check that is a job of Kubernetes."""

    job_container: Annotated[CheckContainer, says("container of the check", written=False)] = CheckContainer()
    munge_container: Annotated[CheckContainer | None, says("container of munged")] = None
    script_ref_name: Annotated[str, says("name of the ConfigMap whose `script.sh` is run", written=False)] = (
        ""
    )


class SlurmJob(Part):
    """A check that is a job of Slurm."""

    job_container: Annotated[CheckContainer, says("container that submits the job", written=False)] = (
        CheckContainer()
    )
    munge_container: Annotated[CheckContainer | None, says("container of munged")] = None
    sbatch_script: Annotated[str, says("the job's script", written=False)] = ""
    sbatch_script_ref_name: Annotated[
        str, says("name of the ConfigMap whose `sbatch.sh` is the job's script", written=False)
    ] = ""
    each_worker_jobs: Annotated[bool, says("whether there is a job for each worker")] = False
    max_number_of_jobs: Annotated[Int64, says("how many workers are checked at most; 0 for all")] = 0


class DrainNode(Part):
    """A drain as reaction."""

    drain_reason_prefix: Annotated[str, says("what the reason begins with", written=False)] = ""


class CommentNode(Part):
    """A comment as reaction."""

    comment_prefix: Annotated[str, says("what the comment begins with", written=False)] = ""


class Reactions(Part):
    """What is done with the nodes of a job that ended."""

    drain_slurm_node: Annotated[DrainNode | None, says("drain them")] = None
    comment_slurm_node: Annotated[CommentNode | None, says("comment them")] = None


class ActiveCheckSpec(Scheduled):
    """What is checked, when, and what follows."""

    name: Annotated[str, says("name of the check, of its container and of its jobs")]
    slurm_cluster_ref_name: Annotated[
        str, says("name of the SlurmCluster, of the same namespace, that is checked")
    ]
    check_type: Annotated[CheckType, says("who runs it")] = "k8sJob"
    depends_on: Annotated[Items[str], says("names of the checks that have to be complete before")] = ()
    schedule: Annotated[str, says("when it runs, as cron has it")] = "0 0 1 1 *"
    suspend: Annotated[bool, says("whether the schedule rests")] = True
    run_after_creation: Annotated[bool, says("whether it runs once as soon as it can")] = True
    active_deadline_seconds: Annotated[Int64, says("seconds within which it has to end")] = 1800
    successful_jobs_history_limit: Annotated[Int32, says("jobs that are kept which went well")] = 3
    failed_jobs_history_limit: Annotated[Int32, says("jobs that are kept which did not")] = 16
    host_users: Annotated[bool | None, says("whether the pods share the host's user namespace")] = None
    pod_template_name_ref: Annotated[
        str, says("name of the PodTemplate that the pods are made by", written=False)
    ] = ""
    k8s_job_spec: Annotated[KubernetesJob | None, says("the job, with `k8sJob`")] = None
    slurm_job_spec: Annotated[SlurmJob | None, says("the job, with `slurmJob`")] = None
    success_reactions: Annotated[Reactions | None, says("what follows where it went well")] = None
    failure_reactions: Annotated[Reactions | None, says("what follows where it did not")] = None


class KubernetesRun(Part):
    """The last job of Kubernetes."""

    last_job_name: Annotated[str, says("name of the job")]
    last_job_status: Annotated[str, says("Active, Pending, Complete, Failed, Suspended or Unknown")]
    last_job_schedule_time: Annotated[Moment | None, says("when it was to begin")] = None
    last_job_successful_time: Annotated[Moment | None, says("when a job last went well")] = None
    last_transition_time: Annotated[Moment | None, says("when this last changed")] = None


class FailedJob(Part):
    """A job that did not go well."""

    job_id: Annotated[str, says("Slurm's number of the job", alias="jobID")]
    reason: Annotated[str, says("why, as Slurm says it")]


class SlurmRun(Part):
    """The last jobs of Slurm."""

    last_run_id: Annotated[str, says("Slurm's numbers of the jobs", written=False)] = ""
    last_run_name: Annotated[str, says("name of the jobs", written=False)] = ""
    last_run_status: Annotated[
        str, says("InProgress, Complete, Failed, Cancelled, Error or Skipped", written=False)
    ] = ""
    last_run_submit_time: Annotated[Moment | None, says("when they were submitted")] = None
    last_run_cancelled_jobs: Annotated[Items[str], says("jobs that were cancelled")] = ()
    last_run_fail_jobs_and_reasons: Annotated[Items[FailedJob], says("jobs that failed")] = ()
    last_run_error_jobs_and_reasons: Annotated[Items[FailedJob], says("jobs that could not run")] = ()
    last_transition_time: Annotated[Moment | None, says("when this last changed")] = None


class ActiveCheckStatus(Status):
    """What came of it."""

    reason: Annotated[str, says("why it does not run", written=False)] = ""
    update_status: Annotated[str, says("no longer used", written=False)] = ""
    k8s_jobs_status: Annotated[KubernetesRun | None, says("the last job of Kubernetes")] = None
    slurm_jobs_status: Annotated[SlurmRun | None, says("the last jobs of Slurm")] = None


class ActiveCheck(Resource):
    """A check of a Slurm cluster that runs as a job."""

    spec: ActiveCheckSpec


def parse(obj: Object) -> ActiveCheck:
    """Return an object as an ActiveCheck; SpecError with everything that is wrong with it."""
    return resource.parse(ActiveCheck, obj)
