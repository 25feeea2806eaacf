"""`ironarm scenarios`: routers in any language on scenarios that replay."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import InvalidInput
from ..naming import own_code
from ..show.text import counted, text_table, wrapped
from .common import describe

EXAMPLES = """\
examples:
  ironarm scenarios list                            all scenarios
  ironarm scenarios show fail-fast                  what happens in one of them
  ironarm scenarios run --router "python my.py"     your router on all of them, beside ours
  ironarm scenarios run stalls --router "./route" --alone --seeds 5 --json
  ironarm scenarios run --router 'policy:MedEUCB(b=2)' --router greedy
  ironarm scenarios make --out scenarios            the files, for a harness of your own

A router reads JSON lines, and answers each request with {"deployment": "..."}; docs/scenarios.md
describes it. ROUTER is round-robin, greedy, policy:NAME, or a command.
"""
OURS = (
    "policy:CoherentIMED",
    "policy:RestartingIMED",
    "policy:UCB(sigma=sigma)",
    "greedy",
    "round-robin",
)
SEEDS = 20


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        (
            "Play routers on scenarios of latencies and scores that break, and score them. A "
            "scenario is the same whatever a router chooses."
        ),
        EXAMPLES,
    )
    parser.add_argument("what", choices=["list", "show", "make", "run"], help="what to do")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="SCENARIO",
        help="by name, or files: a spec (.toml), or for `run` what `make` wrote (.jsonl); "
        "default: all built-in ones",
    )
    parser.add_argument(
        "--router",
        action="append",
        default=[],
        metavar="ROUTER",
        help="a router to play; may be repeated (default: ours)",
    )
    parser.add_argument("--alone", action="store_true", help="only the routers given, not ours")
    parser.add_argument(
        "--seeds", type=int, default=SEEDS, metavar="N", help=f"seeds 1 to N (default: {SEEDS})"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=10.0,
        metavar="S",
        help="seconds for an answer (default: 10; at least 60 for the first one)",
    )
    parser.add_argument("--restart", action="store_true", help="restart the command for every run")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument(
        "--out", type=Path, default=Path("scenarios"), metavar="DIR", help="where `make` writes"
    )


def run(options: argparse.Namespace) -> int:
    """Do it."""
    from ..lab.scenarios.spec import shipped

    names = options.names or list(shipped())
    {"list": _list, "show": _show, "make": _make, "run": _run}[options.what](options, names)
    return 0


def _list(options: argparse.Namespace, names: Sequence[str]) -> None:
    from ..lab.scenarios.spec import read_spec

    specs = [read_spec(name) for name in names]
    if options.json:
        print(json.dumps([{"name": one.name, "title": one.title} for one in specs], indent=2))
        return
    body = [(one.name, one.title) for one in specs]
    print(text_table(("scenario", "what happens"), body, words=(1,)))
    print("\n'ironarm scenarios show NAME' says more.")


def _show(options: argparse.Namespace, names: Sequence[str]) -> None:
    from ..lab.scenarios.spec import read_spec

    for number, name in enumerate(names):
        spec = read_spec(name)
        print(f"\n{spec.name}: {spec.title}\n" if number else f"{spec.name}: {spec.title}\n")
        print(wrapped(" ".join(spec.about.split()), "  ", "  ") + "\n")
        kind = "median" if spec.law == "lognormal" else "mean"
        head = ("deployment", f"{kind}, {spec.unit}", "from request")
        rows = [
            (one.name, f"{value:g}", f"{begins:,}")
            for one in spec.deployments
            for begins, value in one.values
        ]
        print(text_table(head, rows) + "\n")
        goal = "small is good" if spec.goal == "min" else "large is good"
        print(f"  {counted(spec.requests, 'request')}; {spec.unit}, {goal}")


def _make(options: argparse.Namespace, names: Sequence[str]) -> None:
    from ..errors import BadFile
    from ..files import write_whole
    from ..lab.scenarios.file import as_text, digest, file_name, known_sum
    from ..lab.scenarios.scenario import make_scenario
    from ..lab.scenarios.spec import read_spec

    specs = [read_spec(name) for name in names]
    options.out.mkdir(parents=True, exist_ok=True)
    sums = {}
    for spec in specs:
        for seed in _seeds(options):
            text = as_text(make_scenario(spec, seed))
            file, expected = file_name(spec.name, seed), known_sum(spec.name, seed)
            sums[file] = digest(text)
            if expected not in (None, sums[file]) and str(spec.name) in names:
                raise BadFile(
                    f"{file} came out different from what was published: SHA-256 {sums[file]}, "
                    f"expected {expected}. Please report this, with your system and Python."
                )
            write_whole(options.out / file, text.encode())
    listing = "".join(f"{digest}  {file}\n" for file, digest in sums.items())
    write_whole(options.out / "SHA256SUMS", listing.encode())
    print(f"wrote {counted(len(sums), 'file')} and SHA256SUMS to {options.out}")


def _seeds(options: argparse.Namespace) -> range:
    from ..validation import whole

    return range(1, whole("--seeds", options.seeds, at_least=1, below=10**6) + 1)


def _run(options: argparse.Namespace, names: Sequence[str]) -> None:
    from ..lab.scenarios.results import run as play_all
    from ..lab.scenarios.results import table

    if options.alone and not options.router:
        raise InvalidInput("--alone leaves out our routers; give one with --router.")
    texts = list(dict.fromkeys([*options.router, *(() if options.alone else OURS)]))
    routers = {text: _router(options, text) for text in texts}
    scenarios = {name: _scenarios(options, name) for name in names}
    try:
        standings = play_all(routers, scenarios, show=True)
    finally:
        for router in routers.values():
            getattr(router, "close", lambda: None)()
    if options.json:
        print(json.dumps([one.to_dict() for one in standings], indent=2))
        return
    for name, runs in scenarios.items():
        seeds = counted(len(runs), "seed")
        print(f"{runs[0].name}: {runs[0].title} ({seeds}; excess in {runs[0].unit} a request)\n")
        print(table([one for one in standings if one.scenario == name]) + "\n")
    print(
        wrapped(
            "On the best: share of the requests of the second half that the deployment with the "
            "best clean value served. Excess: how far the clean value of the chosen one is from "
            "the best, on average over all requests. Intervals: 95 %, bootstrap over seeds."
        )
    )


def _scenarios(options: argparse.Namespace, name: str) -> list[Any]:
    """Return the runs of a scenario: those of a file, or one for each seed."""
    from ..lab.scenarios.file import read_scenario
    from ..lab.scenarios.scenario import make_scenario
    from ..lab.scenarios.spec import read_spec

    if Path(name).suffix == ".jsonl":
        return [read_scenario(Path(name))]
    spec = read_spec(name)
    return [make_scenario(spec, seed) for seed in _seeds(options)]


def _router(options: argparse.Namespace, text: str) -> Any:
    from ..lab.scenarios.process import ProcessRouter
    from ..lab.scenarios.routers import built_in

    with own_code.allowed():
        known = built_in(text)
    return known or ProcessRouter(text, options.timeout, options.restart)
