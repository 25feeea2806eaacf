"""Cold start: seconds of whole processes, from the interpreter's start to its end, with
an empty compile cache and then with the cache that the first run left.

CPU seconds for the import; wall seconds for the others, because policies are compiled
by two processes side by side (their CPU seconds stand beside).

A process plays two rounds of one trial, which compiles all that a simulation of any
length needs. An agent's calls are compiled on first use and are not counted here.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time

from measure import at_most, options, show

IMPORT = "import ironarm as ia\n"
SIMULATE = (
    "ia.simulate({}, ia.GaussianBandit(means=range(2, 21, 2)), ia.OppositeUniform(rho=0.125), "
    "horizon=2, trials=1, seed=1, workers=1, progress=False)\n"
)
FIRST = IMPORT + SIMULATE.format("ia.MedEUCB()")
NINE = IMPORT + SIMULATE.format(
    "[ia.MedEUCB(), ia.MedEpsilonGreedy(), ia.UCB(), ia.EpsilonGreedy(), ia.RUCB(), ia.EXP3(), "
    "ia.CatoniUCB(), ia.TrimmedUCB(alpha=0.2), ia.TrimmedEpsilonGreedy(alpha=0.2)]"
)


def seconds(program: str, cache: str) -> tuple[float, float]:
    """Return the wall and CPU seconds that a process with this program takes, its
    own processes included.
    """
    started = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={**os.environ, "IRONARM_CACHE_DIR": cache}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        time.perf_counter() - started,
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    )


def main() -> None:
    quick = options(__doc__).quick
    cases = [
        "import ironarm",
        "first policy, empty cache",
        "all nine, empty cache",
        "all nine, second process",
    ]
    best = dict.fromkeys(cases, (float("inf"), float("inf")))
    for _ in range(1 if quick else 3):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            seconds(IMPORT, one)  # so that the files are in memory
            times = [
                seconds(IMPORT, one),
                seconds(FIRST, one),
                seconds(NINE, other),
                min(seconds(NINE, other) for _ in range(2)),
            ]
        best = {case: min(best[case], pair) for case, pair in zip(cases, times, strict=True)}
    targets = dict(zip(cases, [0.7, 6, 30, 1.2], strict=True))
    judged = {case: best[case][case == "import ironarm"] for case in cases}
    rows = [
        [
            case,
            f"{best[case][0]:.2f}",
            f"{best[case][1]:.2f}",
            *at_most(judged[case], targets[case]),
        ]
        for case in cases
    ]
    show("Cold start", ["", "wall seconds", "CPU seconds", "target", ""], rows)


if __name__ == "__main__":
    main()
