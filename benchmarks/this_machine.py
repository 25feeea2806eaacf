"""The machine that a benchmark ran on, in a sentence."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path


def machine() -> str:
    """Describe the machine in a sentence."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError, StopIteration):
        model = next(
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        )
    versions = ", ".join(f"{package} {version(package)}" for package in ("numba", "numpy"))
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()}, Python "
        f"{platform.python_version()}, {versions}{gcc()}"
    )


def gcc() -> str:
    """Return the compiler's version, if there is one."""
    try:
        return (
            ", gcc "
            + subprocess.run(
                ["gcc", "-dumpfullversion"], check=True, capture_output=True, text=True
            ).stdout.strip()
        )
    except (OSError, subprocess.SubprocessError):
        return ""
