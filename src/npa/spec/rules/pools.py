"""What a pool of workers may be: its machines, disks, fabric and the way they are paid for."""

from __future__ import annotations

from collections.abc import Iterator

from npa.spec import catalog, nearest
from npa.spec.finding import Finding
from npa.spec.model import FEATURE_PATTERN, SELECTORS, SoperatorSpec, WorkerPoolSpec
from npa.spec.rules import words

FEATURE_LONGEST = 64
_TOKEN = "A-Za-z0-9_.-"


def _pools(spec: SoperatorSpec) -> Iterator[tuple[str, WorkerPoolSpec]]:
    return ((f"workers[{index}]", pool) for index, pool in enumerate(spec.workers))


def there_are_workers(spec: SoperatorSpec) -> Iterator[Finding]:
    """A cluster without workers runs nothing."""
    if not spec.workers:
        yield Finding("workers", "at least one pool is needed, there are 0", "add `- name: <pool>`")


def pools_have_nodes(spec: SoperatorSpec) -> Iterator[Finding]:
    """A pool without nodes would be a name in Slurm's files that stands for nothing."""
    for at, pool in _pools(spec):
        if pool.size < 1:
            hint = "use 1 or more, or remove the pool"
            yield Finding(f"{at}.size", f"must be at least 1, is {pool.size}", hint)


def slurm_can_count_the_nodes(spec: SoperatorSpec) -> Iterator[Finding]:
    """slurmctld holds a fixed number of nodes at most."""
    total = 0
    for at, pool in _pools(spec):
        total += max(pool.size, 0)
        if total > catalog.MAX_NODES:
            message = f"makes {total} workers, Slurm counts at most {catalog.MAX_NODES}"
            yield Finding(f"{at}.size", message, "use fewer")
            return


def regions_are_in_the_catalogue(spec: SoperatorSpec) -> Iterator[Finding]:
    """A region that does not exist would fail only at the provider."""
    if spec.region and spec.region not in catalog.REGIONS:
        hint = nearest.hint(spec.region, catalog.REGIONS)
        yield Finding("region", f"{words.shown(spec.region)} is no region", hint)


def platforms_are_in_the_catalogue(spec: SoperatorSpec) -> Iterator[Finding]:
    """All that follows, down to Slurm's GRES, is looked up by platform."""
    for at, pool in _pools(spec):
        if pool.platform not in catalog.PLATFORMS:
            hint = nearest.hint(pool.platform, catalog.PLATFORMS)
            yield Finding(f"{at}.platform", f"{words.shown(pool.platform)} is no platform", hint)


def platforms_are_offered_in_the_region(spec: SoperatorSpec) -> Iterator[Finding]:
    """Not every region has every machine."""
    for at, pool in _pools(spec):
        platform = catalog.PLATFORMS.get(pool.platform)
        if spec.region in catalog.REGIONS and platform and spec.region not in platform.regions:
            yield Finding(
                f"{at}.platform",
                f"{pool.platform} is not offered in {spec.region}",
                f"it is in {', '.join(platform.regions)}",
                ("region",),
            )


def presets_belong_to_their_platform(spec: SoperatorSpec) -> Iterator[Finding]:
    """A shape is one of its platform's."""
    for at, pool in _pools(spec):
        platform = catalog.PLATFORMS.get(pool.platform)
        if platform and not catalog.preset(pool.platform, pool.preset):
            hint = nearest.hint(pool.preset, (preset.name for preset in platform.presets))
            yield Finding(
                f"{at}.preset",
                f"{words.shown(pool.preset)} is no preset of {pool.platform}",
                f"use {_clustering(pool.platform)}" if pool.has_gpus else hint,
                (f"{at}.platform",),
            )


def cpu_presets_leave_room_for_jobs(spec: SoperatorSpec) -> Iterator[Finding]:
    """The recipe refuses CPU workers that its own daemons would fill."""
    for at, pool in _pools(spec):
        preset = catalog.preset(pool.platform, pool.preset)
        least = catalog.WORKER_MIN_VCPUS.get(pool.platform, 0)
        if preset and preset.vcpus < least:
            message = f"{pool.preset} is too small for a worker, at least {least} vCPUs are needed"
            yield Finding(f"{at}.preset", message, "use a larger preset", (f"{at}.platform",))


def gpu_presets_can_join_a_fabric(spec: SoperatorSpec) -> Iterator[Finding]:
    """The provider refuses to cluster the small GPU shapes."""
    for at, pool in _pools(spec):
        preset = catalog.preset(pool.platform, pool.preset)
        if preset and preset.gpus and not preset.clusters:
            yield Finding(
                f"{at}.preset",
                f"{pool.preset} cannot join a fabric, so it cannot be a worker",
                f"use {_clustering(pool.platform)}",
                (f"{at}.platform",),
            )


def _clustering(platform: str) -> str:
    return " or ".join(preset.name for preset in catalog.PLATFORMS[platform].presets if preset.clusters)


def gpu_pools_name_a_fabric(spec: SoperatorSpec) -> Iterator[Finding]:
    """GPU workers talk over InfiniBand, so their pool says which fabric."""
    for at, pool in _pools(spec):
        if pool.has_gpus and not pool.fabric:
            message = f"pool {words.shown(pool.name)} has GPUs but no fabric"
            hint = "set `fabric`, or choose a CPU platform"
            yield Finding(f"{at}.fabric", message, hint, (f"{at}.platform", f"{at}.name"))


def cpu_pools_name_no_fabric(spec: SoperatorSpec) -> Iterator[Finding]:
    """CPU machines are on no fabric."""
    for at, pool in _pools(spec):
        if pool.fabric and not pool.has_gpus:
            message = f"pool {words.shown(pool.name)} has a fabric but no GPUs"
            hint = "remove `fabric`, or choose a GPU platform"
            yield Finding(f"{at}.fabric", message, hint, (f"{at}.platform", f"{at}.name"))


def fabrics_are_one_word(spec: SoperatorSpec) -> Iterator[Finding]:
    """A fabric becomes the name of a switch in Slurm's topology."""
    for at, pool in _pools(spec):
        message = pool.fabric and words.fault(pool.fabric, f"[{_TOKEN}]+", _TOKEN, FEATURE_LONGEST)
        if message:
            yield Finding(f"{at}.fabric", message, "use letters, digits and `_ . -`")


def boot_disks_hold_the_images(spec: SoperatorSpec) -> Iterator[Finding]:
    """The recipe refuses smaller boot disks for workers."""
    least = catalog.WORKER_BOOT_DISK_MIN_GIB
    for at, pool in _pools(spec):
        if pool.boot_disk_gib < least:
            message = f"must be at least {least}, is {pool.boot_disk_gib}"
            yield Finding(f"{at}.boot_disk_gib", message, f"use {least}")


def cache_disks_are_offered(spec: SoperatorSpec) -> Iterator[Finding]:
    """The recipe takes two kinds of disk for the image cache."""
    for at, pool in _pools(spec):
        if pool.docker_cache_disk_type not in catalog.CACHE_DISK_TYPES:
            message = f"{words.shown(pool.docker_cache_disk_type)} is no disk for an image cache"
            hint = nearest.hint(pool.docker_cache_disk_type, catalog.CACHE_DISK_TYPES)
            yield Finding(f"{at}.docker_cache_disk_type", message, hint)


def cache_sizes_are_whole_units(spec: SoperatorSpec) -> Iterator[Finding]:
    """The provider makes these disks of 93 GiB units, and refuses other sizes half-way through a deploy."""
    for at, pool in _pools(spec):
        size, kind = pool.docker_cache_gib, pool.docker_cache_disk_type
        step = catalog.DISK_STEP_GIB.get(kind, 1)
        if size < 1:
            message, hint = f"must be at least 1, is {size}", f"use {step} or a multiple of it"
        elif pool.docker_cache and size > catalog.DISK_MAX_GIB:
            message, hint = f"must be at most {catalog.DISK_MAX_GIB}, is {size}", "use a smaller disk"
        elif pool.docker_cache and size % step:
            message = f"{size} is not a multiple of {step}, which {kind} needs"
            hint = f"use {' or '.join(map(str, catalog.nearest_sizes(size, step)))}"
        else:
            continue
        rests_on = (f"{at}.docker_cache", f"{at}.docker_cache_disk_type")
        yield Finding(f"{at}.docker_cache_gib", message, hint, rests_on)


def one_reservation_selects_a_pool(spec: SoperatorSpec) -> Iterator[Finding]:
    """Two selectors could name two reservations."""
    for at, pool in _pools(spec):
        if len(_selectors(pool)) > 1:
            message = f"pool {words.shown(pool.name)} names its reservation twice"
            hint = "keep either capacity_block_group or capacity_block_group_name"
            rests_on = (f"{at}.capacity_block_group", f"{at}.name")
            yield Finding(f"{at}.capacity_block_group_name", message, hint, rests_on)


def reserved_pools_are_not_preemptible(spec: SoperatorSpec) -> Iterator[Finding]:
    """The provider bills a machine one way or the other."""
    for at, pool in _pools(spec):
        selectors = _selectors(pool)
        if selectors and pool.preemptible:
            message = f"pool {words.shown(pool.name)} is preemptible and names a reservation"
            hint = f"set `preemptible: false`, or remove {selectors[0]}"
            yield Finding(f"{at}.preemptible", message, hint, (f"{at}.{selectors[0]}", f"{at}.name"))


def reserved_pools_have_gpus(spec: SoperatorSpec) -> Iterator[Finding]:
    """Only GPU capacity is reserved in blocks."""
    for at, pool in _pools(spec):
        for name in () if pool.has_gpus else _selectors(pool):
            message = f"pool {words.shown(pool.name)} names a reservation but has no GPUs"
            yield Finding(f"{at}.{name}", message, "remove it", (f"{at}.platform", f"{at}.name"))


def _selectors(pool: WorkerPoolSpec) -> tuple[str, ...]:
    return tuple(name for name in sorted(SELECTORS) if getattr(pool, name).strip())


def features_are_words_to_slurm(spec: SoperatorSpec) -> Iterator[Finding]:
    """`--constraint` has an operator for almost every other character."""
    for at, pool in _pools(spec):
        for index, feature in enumerate(pool.features):
            message = words.fault(feature, FEATURE_PATTERN, _TOKEN, FEATURE_LONGEST)
            if not message and feature in pool.features[:index]:
                message = f"{feature!r} is there twice"
            if message:
                yield Finding(
                    f"{at}.features[{index}]", message, "use letters, digits and `_ . -`, each once"
                )


RULES = (
    there_are_workers,
    pools_have_nodes,
    slurm_can_count_the_nodes,
    regions_are_in_the_catalogue,
    platforms_are_in_the_catalogue,
    platforms_are_offered_in_the_region,
    presets_belong_to_their_platform,
    cpu_presets_leave_room_for_jobs,
    gpu_presets_can_join_a_fabric,
    gpu_pools_name_a_fabric,
    cpu_pools_name_no_fabric,
    fabrics_are_one_word,
    boot_disks_hold_the_images,
    cache_disks_are_offered,
    cache_sizes_are_whole_units,
    one_reservation_selects_a_pool,
    reserved_pools_are_not_preemptible,
    reserved_pools_have_gpus,
    features_are_words_to_slurm,
)
