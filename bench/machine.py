"""What the machine is, and how much memory a cluster takes of it."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path


def facts(slurm_version: str) -> Mapping[str, str]:
    """Return what a reader has to know about the machine to compare."""
    total = next(line for line in _lines("/proc/meminfo") if line.startswith("MemTotal"))
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    return {
        "CPU": next(
            (line.partition(": ")[2] for line in _lines("/proc/cpuinfo") if "model name" in line), "?"
        ),
        "cores": str(os.cpu_count()),
        "memory": f"{int(total.split()[1]) / 2**20:.0f} GiB",
        "kernel": platform.release(),
        "Python": platform.python_version(),
        "Slurm": slurm_version,
        "load average at the end": load,
        "date": date.today().isoformat(),
    }


def cpu(process: Path) -> float:
    """Return the CPU seconds that a process has taken, itself and in the kernel; 0 where it has ended."""
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of(*programs: str, state: Path) -> float:
    """Return the CPU seconds that those of some programs have taken that were told of a folder."""
    found = 0.0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text(errors="replace").split("\0")
        except OSError:
            continue
        if Path(words[0]).name in programs and any(str(state) in word for word in words):
            found += cpu(process)
    return found


def cluster_memory(state: Path) -> float:
    """Return the MiB of all processes of the clusters below a state folder, shared pages counted once."""
    return sum(_pss(process) for process in _processes(state)) / 1024


def _processes(state: Path) -> Iterator[Path]:
    """Yield the processes that have the jail of such a cluster mounted: in its lab, its nodes or its jobs."""
    mark = f"upperdir={state}/"
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "mountinfo").read_text(errors="replace"):
                yield process
        except OSError:
            continue  # it has ended, or is the kernel's


def _pss(process: Path) -> int:
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()
