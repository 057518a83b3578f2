"""Every reason to wait is explained."""

from __future__ import annotations

import pytest

from npa.slurm import pending

# of Slurm 26.05's common/job_state_reason.c: what a pending job may bear
WORDS = """
None Prolog Priority Dependency Resources PartitionNodeLimit PartitionTimeLimit PartitionDown
PartitionInactive JobHeldAdmin JobHeldUser BeginTime Licenses AssociationJobLimit
AssociationResourceLimit AssociationTimeLimit Reservation ReqNodeNotAvail FrontEndDown SchedDefer
NodeDown BadConstraints SystemFailure JobLaunchFailure InvalidAccount InvalidQOS QOSUsageThreshold
QOSJobLimit QOSResourceLimit QOSTimeLimit Cleaning QOSNotAllowed AccountNotAllowed
DependencyNeverSatisfied JobHoldMaxRequeue JobArrayTaskLimit BurstBufferResources BurstBufferStageIn
BurstBufferOperation PowerNotAvail PowerReserved DeadLine PartitionConfig AccountingPolicy
FedJobLock MaxMemPerLimit ReservationDeleted ReservationInvalid Constraints QOSGrpCpuLimit
QOSGrpCPUMinutesLimit QOSGrpCPURunMinutesLimit QOSGrpJobsLimit QOSGrpMemLimit QOSGrpNodeLimit
QOSGrpSubmitJobsLimit QOSGrpWallLimit QOSMaxCpuPerJobLimit QOSMaxCpuMinutesPerJobLimit
QOSMaxNodePerJobLimit QOSMaxWallDurationPerJobLimit QOSMaxCpuPerUserLimit QOSMaxJobsPerUserLimit
QOSMaxNodePerUserLimit QOSMaxSubmitJobPerUserLimit QOSMinCpuNotSatisfied AssocGrpCpuLimit
AssocGrpCPUMinutesLimit AssocGrpCPURunMinutesLimit AssocGrpJobsLimit AssocGrpMemLimit
AssocGrpNodeLimit AssocGrpSubmitJobsLimit AssocGrpWallLimit AssocMaxJobsLimit AssocMaxCpuPerJobLimit
AssocMaxCpuMinutesPerJobLimit AssocMaxNodePerJobLimit AssocMaxWallDurationPerJobLimit
AssocMaxSubmitJobLimit AssocGrpUnknown AssocGrpUnknownMinutes AssocGrpUnknownRunMinutes
AssocMaxUnknownPerJob AssocMaxUnknownPerNode AssocMaxUnknownMinutesPerJob AssocMaxCpuPerNode
AssocGrpMemMinutes AssocGrpMemRunMinutes AssocMaxMemPerJob AssocMaxMemPerNode
AssocMaxMemMinutesPerJob AssocGrpNodeMinutes AssocGrpNodeRunMinutes AssocMaxNodeMinutesPerJob
AssocGrpEnergy AssocMaxEnergyPerJob AssocGrpGRES AssocGrpGRESMinutes AssocGrpGRESRunMinutes
AssocMaxGRESPerJob AssocMaxGRESPerNode AssocMaxGRESMinutesPerJob AssocGrpLicense
AssocMaxLicensePerJob AssocMaxLicenseMinutesPerJob AssocGrpBB AssocMaxBBPerJob
AssocMaxBBMinutesPerJob QOSGrpUnknown QOSMaxUnknownPerUser QOSMinUnknown QOSMaxCpuPerNode
QOSGrpMemoryMinutes QOSGrpMemoryRunMinutes QOSMaxMemoryPerJob QOSMaxMemoryPerNode
QOSMaxMemoryPerUser QOSMaxMemoryMinutesPerJob QOSMinMemory QOSGrpNodeMinutes QOSMaxNodeMinutesPerJob
QOSMinNode QOSMaxEnergyPerUser QOSGrpGRES QOSGrpGRESMinutes QOSGrpGRESRunMinutes QOSMaxGRESPerJob
QOSMaxGRESPerNode QOSMaxGRESPerUser QOSMaxGRESMinutesPerJob QOSMinGRES QOSGrpLicense
QOSMaxLicensePerUser QOSMinLicense QOSGrpBB QOSMaxBBPerUser QOSMinBB MaxBBPerAccount
MaxCpuPerAccount MaxEnergyPerAccount MaxGRESPerAccount MaxNodePerAccount MaxLicensePerAccount
MaxMemoryPerAccount MaxUnknownPerAccount MaxJobsPerAccount MaxSubmitJobsPerAccount AssocGrpBilling
AssocGrpBillingMinutes AssocMaxBillingPerJob AssocMaxBillingPerNode QOSGrpBillingRunMinutes
QOSMaxBillingPerUser MaxBillingPerAccount QOSMinBilling MaxCpuRunMinsPerAccount
MaxMemoryRunMinsPerAccount MaxNodeRunMinsPerAccount
"""


@pytest.mark.parametrize("word", WORDS.split())
def test_each_word_of_slurms_is_known(word: str) -> None:
    waiting = pending.explain(word)

    assert "does not know" not in waiting.meaning
    assert waiting.meaning
    assert waiting.remedy


def test_a_word_that_is_not_known_says_so() -> None:
    waiting = pending.explain("SpaceWeather")

    assert waiting.who == "unknown"
    assert "'SpaceWeather', which this version does not know" in waiting.meaning


@pytest.mark.parametrize(
    ("word", "meaning", "who"),
    [
        ("QOSMaxMemoryPerUser", "its user's jobs have all the memory that they may", "nobody"),
        ("AssocGrpCPUMinutesLimit", "the jobs of its account have used up their CPUs times minutes", "admin"),
        ("QOSMaxGRESPerJob", "it asks for more GPUs or other GRES than its QOS lets a job have", "user"),
        ("MaxJobsPerAccount", "its account's jobs have all the jobs at a time that they may", "nobody"),
        ("QOSMinGRES", "it asks for fewer GPUs or other GRES than its QOS wants of a job", "user"),
    ],
)
def test_limits_are_put_together_from_their_parts(word: str, meaning: str, who: str) -> None:
    waiting = pending.explain(word)

    assert (waiting.meaning, waiting.who) == (meaning, who)
