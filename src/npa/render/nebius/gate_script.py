"""What the GPU gate runs: one Slurm step over the workers of a pool, and how it is cancelled; pure."""

from __future__ import annotations

from collections.abc import Sequence

TESTS = ("deviceQuery", "vectorAdd", "simpleMultiGPU", "p2pBandwidthLatencyTest")
FAMILIES = ("GB300", "B300", "B200", "H200", "H100")
MARKER = "NPA_GPU_CREATION_CHECK_RESULT"
USER = "root"  # whose jobs the gate starts and ends

_JAIL = ("chroot", "/mnt/jail")
_OUTPUTS = "/opt/soperator-outputs/health_checker_cmd_stdout"

# Each test runs by itself, so that its own exit code and status are known. The worker only reports; who
# passed is decided from the lines that arrive, so that a line that does not arrive is a failure.
_SCRIPT = r"""
set -u
say() { printf '%s run=%s host=%s %s\n' "$MARKER" "$RUN" "${SLURMD_NODENAME:-$(hostname -s)}" "$*"; }
listed=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ')
names=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sort -u | paste -sd '|' | tr ' ' '_')
say "gpus=${listed:-0} name=${names:-none}"
[ "${listed:-0}" = "$GPUS" ] || { say "end rc=3"; exit 3; }
failed=0
for test in $TESTS; do
  out=$(health-checker run -e soperator -p "$PLATFORM" -n "$test" -f json-partial \
        --tests-stdout-path "$OUTPUTS" 2>&1)
  rc=$?
  status=$(printf '%s\n' "$out" | sed -n '/^{/,/^}/p' | jq -r '.status // "none"' 2>/dev/null |
           sort -u | paste -sd ',' | tr -c 'A-Za-z0-9_,\n' '_')
  say "test=$test status=${status:-none} rc=$rc"
  [ "$rc" = 0 ] && [ "$status" = PASS ] || failed=4
done
say "end rc=$failed"
exit "$failed"
"""


def platform(family: str, gpus: int) -> str:
    """Return the health checker's word for a worker's shape, `8xH100`."""
    return f"{gpus}x{family}"


def script(run: str, family: str, gpus: int) -> str:
    """Return what each worker runs; none of the values can hold anything but letters and digits."""
    values = {
        "MARKER": MARKER,
        "RUN": run,
        "GPUS": str(gpus),
        "TESTS": " ".join(TESTS),
        "PLATFORM": platform(family, gpus),
        "OUTPUTS": _OUTPUTS,
    }
    return "".join(f"{name}='{value}'\n" for name, value in values.items()) + _SCRIPT


def step(job: str, nodes: Sequence[str], gpus: int, text: str, seconds: int) -> tuple[str, ...]:
    """Return the command that runs a script once on every one of these workers, within so many seconds.

    The queue, the step and whoever waits for it all have the same time left.
    """
    size = len(nodes)
    return (
        *_JAIL,
        "srun",
        "--label",
        f"--job-name={job}",
        f"--nodes={size}",
        f"--ntasks={size}",
        "--ntasks-per-node=1",
        f"--gpus-per-node={gpus}",
        "--exclusive",
        "--kill-on-bad-exit=0",
        f"--immediate={seconds}",
        f"--time={walltime(seconds)}",
        f"--nodelist={','.join(nodes)}",
        "bash",
        "-lc",
        text,
    )


def cancel(job: str) -> tuple[str, ...]:
    """Return the command that ends the gate's own job: this exact name, and of this user only."""
    return (*_JAIL, "scancel", f"--name={job}", f"--user={USER}")


def queue(job: str) -> tuple[str, ...]:
    """Return the command that lists the gate's own job, by number; nothing where there is none."""
    return (*_JAIL, "squeue", "--noheader", f"--name={job}", f"--user={USER}", "--format=%A")


def walltime(seconds: int) -> str:
    """Return a time as Slurm takes it, `[D-]HH:MM:SS`."""
    days, rest = divmod(max(seconds, 1), 86_400)
    text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text
