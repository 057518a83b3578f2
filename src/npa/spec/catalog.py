"""What the provider offers, as the pinned recipe knows it: platforms, presets, regions, disks, tiers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

API_VERSION = "npa.soperator/v0.0.1"


@dataclass(frozen=True, slots=True)
class Preset:
    """One machine shape of a platform."""

    name: str
    vcpus: int
    memory_gib: int
    gpus: int = 0
    clusters: bool = False  # whether its GPUs can join an InfiniBand fabric


@dataclass(frozen=True, slots=True)
class Platform:
    """A kind of machine and the shapes it comes in."""

    name: str
    regions: tuple[str, ...]
    presets: tuple[Preset, ...]
    gres_type: str = ""  # the type in Slurm's `gpu:<type>:<count>`; empty without GPUs


def _preset(name: str, *, clusters: bool = False) -> Preset:
    """Read a shape from its name, `8gpu-160vcpu-1792gb`, so that no number is written twice."""
    match = re.fullmatch(r"(?:([0-9]+)gpu-)?([0-9]+)vcpu-([0-9]+)gb", name)
    if match is None:
        raise ValueError(f"not a preset name: {name}")
    gpus, vcpus, memory = (int(part or 0) for part in match.groups())
    return Preset(name, vcpus, memory, gpus, clusters)


def _cpu(*vcpus: int) -> tuple[Preset, ...]:
    # Every CPU preset has 4 GiB for each vCPU.
    return tuple(_preset(f"{count}vcpu-{count * 4}gb") for count in vcpus)


def _gpu(single: str, cluster: str) -> tuple[Preset, ...]:
    return (_preset(single), _preset(cluster, clusters=True))


_HOPPER = _gpu("1gpu-16vcpu-200gb", "8gpu-128vcpu-1600gb")
_B200 = _gpu("1gpu-20vcpu-224gb", "8gpu-160vcpu-1792gb")

REGIONS = (
    "eu-north1",
    "eu-north2",
    "eu-west1",
    "eu-west2",
    "me-west1",
    "uk-south1",
    "us-central1",
    "us-north1",
)

# cpu-g1 is not here: it serves login nodes of test projects only, and npa puts those on cpu-d3.
PLATFORMS = MappingProxyType(
    {
        platform.name: platform
        for platform in (
            Platform("cpu-d3", REGIONS, _cpu(2, 4, 8, 16, 32, 48, 64, 96, 128, 160, 192, 224, 256)),
            Platform("cpu-e2", ("eu-north1",), _cpu(2, 4, 8, 16, 32, 48, 64, 80)),
            Platform("gpu-h100-sxm", ("eu-north1",), _HOPPER, "h100"),
            Platform("gpu-h200-sxm", ("eu-north1", "eu-north2", "eu-west1", "us-central1"), _HOPPER, "h200"),
            Platform("gpu-b200-sxm", ("us-central1",), _B200, "b200"),
            Platform("gpu-b200-sxm-a", ("me-west1",), _B200, "b200"),
            Platform(
                "gpu-b300-sxm",
                ("eu-west2", "uk-south1", "us-north1"),
                _gpu("1gpu-24vcpu-346gb", "8gpu-192vcpu-2768gb"),
                "b300",
            ),
            Platform("gpu-gb300", ("eu-north1",), (_preset("4gpu-112vcpu-800gb", clusters=True),), "gb300"),
        )
    }
)

GPU_PREFIX = "gpu-"  # a pool has GPUs where its platform's name begins so
RACK_PLATFORM = "gpu-gb300"
RACK_SIZE = 18  # nodes of one NVLink rack

# The recipe's sufficiency flags: too little is left for jobs on a smaller CPU worker.
WORKER_MIN_VCPUS = MappingProxyType({"cpu-d3": 4, "cpu-e2": 8})

WORKER_BOOT_DISK_MIN_GIB = 512
SYSTEM_MIN_SIZE = 3
SYSTEM_DEFAULT_MAX_SIZE = 24
MAX_NODES = 65_536  # Slurm's MAX_SLURM_NODE_COUNT

# These disks are made of 93 GiB units; other types take any size.
DISK_STEP_GIB = MappingProxyType(
    {"NETWORK_SSD": 1, "NETWORK_SSD_NON_REPLICATED": 93, "NETWORK_SSD_IO_M3": 93}
)
DISK_MAX_GIB = 262_074
CACHE_DISK_TYPES = ("NETWORK_SSD_IO_M3", "NETWORK_SSD_NON_REPLICATED")

CONTROL_PLANE_PRESETS = (
    "4vcpu-16gb",
    "8vcpu-32gb",
    "16vcpu-64gb",
    "32vcpu-128gb",
    "64vcpu-256gb",
    "128vcpu-512gb",
)

_TIERS = (("XS", 10), ("S", 100), ("M", 500), ("L", 2000))  # a tier holds fewer workers than this
TIERS = (*(name for name, _ in _TIERS), "XL")

# vCPUs that each role needs at least, tier by tier.
_TIER_MIN_VCPUS = MappingProxyType(
    {
        "system": (16, 16, 16, 32, 64),
        "controller": (16, 16, 16, 16, 16),
        "accounting": (8, 8, 8, 16, 32),
        "login": (16, 16, 16, 16, 16),
    }
)

OPERATOR_VERSIONS = ("4.1.6", "4.1.7")
# Only this chart is known to start with the user-namespace override that the unconfined profile needs.
UNCONFINED_OPERATOR_VERSION = "4.1.6"
SLURM_VERSIONS = ("26.05", "24.11")


def tier(workers: int) -> str:
    """Return the sizing tier of a cluster with so many workers."""
    return next((name for name, below in _TIERS if workers < below), TIERS[-1])


def min_vcpus(role: str, workers: int) -> int:
    """Return the vCPUs that a control-plane role needs for so many workers."""
    return _TIER_MIN_VCPUS[role][TIERS.index(tier(workers))]


def preset(platform: str, name: str) -> Preset | None:
    """Return a platform's preset, or None where either is not in the catalogue."""
    known = PLATFORMS.get(platform)
    return next((each for each in known.presets if each.name == name), None) if known else None


def nearest_sizes(size: int, step: int) -> tuple[int, ...]:
    """Return the legal disk sizes on both sides of one that is not a multiple of the step."""
    below = min(max(size, 0), DISK_MAX_GIB) // step * step
    return tuple(legal for legal in (below, below + step) if 0 < legal <= DISK_MAX_GIB)
