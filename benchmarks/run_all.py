"""All benchmarks, one after the other, each in a process of its own: the tables on the
terminal and in results.md.

    python benchmarks/run_all.py               about fifteen minutes
    python benchmarks/run_all.py --quick       about four: fewer repeats, smaller cases
    python benchmarks/run_all.py --only agent  one of them; the others' tables stay
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from this_machine import machine

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.md"
ALL = [
    "c_yardstick",
    "pure_python",
    "policies",
    "paper",
    "agent",
    "durable",
    "litellm_overhead",
    "cold_start",
    "rounds",
    "radio",
    "peers",
]


OPTIONS = {"peers": ["--speed"]}
"""What a benchmark is run with: the peers' regret takes longer than all the rest."""


def run(name: str, quick: bool) -> str:
    """Run one benchmark, passing its lines on as they come, and return them."""
    command = [sys.executable, "-W", "ignore", str(HERE / f"{name}.py"), *OPTIONS.get(name, [])]
    command += ["--quick"] * quick
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode:
        lines.append(f"\n{name} failed with exit code {process.returncode}.\n")
        print(lines[-1], end="")
    return "".join(lines).strip()


def kept() -> dict[str, str]:
    """Return the sections of results.md as they are, by benchmark."""
    sections: dict[str, str] = {}
    if RESULTS.exists():
        for part in RESULTS.read_text(encoding="utf-8").split("\n## ")[1:]:
            name, _, text = part.partition("\n")
            sections[name.strip()] = text.strip()
    return sections


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats and smaller instances")
    parser.add_argument("--only", choices=ALL, metavar="NAME", help=f"one of {', '.join(ALL)}")
    chosen = parser.parse_args()
    sections = kept() if chosen.only else {}
    for name in [chosen.only] if chosen.only else ALL:
        start = time.time()
        text = run(name, chosen.quick)
        took = (
            f"{time.strftime('%Y-%m-%d')}, {machine()}{', --quick' * chosen.quick}; "
            f"{time.time() - start:.0f} s"
        )
        sections[name] = f"{text}\n\n*{took}*"
    body = [
        "# Benchmarks",
        "Written by `make bench`. Contenders take turns in one run and each keeps its shortest "
        "CPU time (wall time where it says so); only ratios of one table are comparable. What is "
        "measured, and how, stands at the top of each script.",
        *(f"## {name}\n\n{sections[name]}" for name in ALL if name in sections),
    ]
    text = "\n\n".join(body) + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    missed = [line for line in text.splitlines() if line.startswith("|") and "| not met" in line]
    failed = [line for line in text.splitlines() if " failed with exit code " in line]
    print(
        f"\n{len(missed)} targets not met, {len(failed)} benchmarks failed; the tables are in "
        "benchmarks/results.md"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
