"""`ironarm demo`: what ironarm is for, in a minute."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from ..errors import MissingExtra
from ..show.text import text_table, wrapped
from .common import check_place, describe

EXAMPLES = """\
examples:
  ironarm demo router                          LiteLLM's strategies and ironarm's, side by side
  ironarm demo router --scenario degradation   on another scenario: `ironarm scenarios list`
  ironarm demo router --seconds 5 --out demo   faster; the page goes to demo/router.html
"""
OURS = {"ironarm": "CoherentIMED"}
RESTARTING = {"ironarm, restarting": "RestartingIMED"}
"""Our routers, with their policies; the second if the scenario changes on the way."""
REMARK = (
    "To be fair: LiteLLM's latency-based strategy takes the best mean of the last ten latencies, "
    "and tries nothing again that looked slow. Much of its trouble with stalls is that it does "
    "not explore; error pages that count as successes mislead every mean, with or without "
    "exploring. Its simple shuffle does not learn at all, so nothing can mislead it."
)
STAND_INS = {"greedy, last 10": "greedy", "round robin": "round-robin"}


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        (
            "Serve the same requests with LiteLLM's routing strategies, if it is installed, and "
            "with ironarm's, live in the terminal; write a page with the figure."
        ),
        EXAMPLES,
    )
    parser.add_argument("what", choices=["router"], help="which demo")
    parser.add_argument(
        "--scenario", default="fail-fast", metavar="NAME", help="which one (default: fail-fast)"
    )
    parser.add_argument("--seed", type=int, default=1, help="a whole number (default: 1)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=12.0,
        metavar="S",
        help="how long the show takes on a terminal (default: 12)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results/demo"),
        metavar="DIR",
        help="folder for the page (default: results/demo)",
    )


def run(options: argparse.Namespace) -> int:
    """Play, print the scores, write the page."""
    from ..lab.scenarios import litellm_strategies as litellm
    from ..lab.scenarios.demo import side_by_side, view_for
    from ..lab.scenarios.scenario import make_scenario
    from ..lab.scenarios.spec import read_spec
    from ..validation import number

    spec = read_spec(options.scenario)
    scenario = make_scenario(spec, options.seed)
    seconds = number("--seconds", options.seconds, at_least=0)
    options.out.mkdir(parents=True, exist_ok=True)
    check_place("--out", options.out / "router.html", "router.html")
    about = " ".join(spec.about.split())
    print(f"{spec.name}: {spec.title}\n")
    print(wrapped(about) + "\n")
    ours = OURS | (RESTARTING if len(scenario.clean) > 1 else {})
    routers = _routers(litellm, ours)
    with view_for(scenario) as view:
        live = sys.stdout.isatty()
        found = side_by_side(routers, scenario, view, seconds if live else 0.0)
    rows = sorted(found.items(), key=lambda item: item[1][0].excess)
    unit = "s" if scenario.unit == "seconds" else scenario.unit
    head = ("router", "on the best, 2nd half", f"lost, {unit} a request")
    body = [(name, f"{100 * one.best:.1f} %", f"{one.excess:.3f}") for name, (one, _) in rows]
    print(f"\n{text_table(head, body)}\n")
    packages = {"litellm": litellm.version()} if litellm.is_installed() else {}
    try:
        from ..lab.kit.page import require_extras

        require_extras()
    except MissingExtra as error:
        print(f"no page: {error}")
        return 0
    from ..lab.scenarios.demo_page import write_page

    command = shlex.join(["ironarm", *sys.argv[1:]])
    remark = REMARK if packages else ""
    write_page(options.out, scenario, about, found, ours, packages, remark, command)
    print(f"one run, seed {scenario.seed}; `ironarm scenarios run {spec.name}` plays 20")
    print(f"wrote {options.out / 'router.html'} and its figure")
    return 0


def _routers(litellm: Any, ours: dict[str, str]) -> dict[str, Any]:
    """Return the routers by their labels; what takes long is said before."""
    from ..agent import Agent
    from ..lab.scenarios.routers import PolicyRouter, built_in
    from ..policies import policy_from_text

    routers: dict[str, Any] = {name: PolicyRouter(text) for name, text in ours.items()}
    print("preparing: compiling policies, unless that is already done", file=sys.stderr)
    for text in ours.values():
        Agent(policy_from_text(text), arms=2, seed=0).prepare()
    if litellm.is_installed():
        print("preparing: loading LiteLLM", file=sys.stderr)
        for name, (strategy, arguments) in litellm.STRATEGIES.items():
            routers[name] = litellm.LiteLLMRouter(strategy, arguments)
    else:
        print(
            "LiteLLM is not installed, so the simplest strategies take its place; `pip install "
            "litellm` to see its own.",
            file=sys.stderr,
        )
        routers |= {name: built_in(text) for name, text in STAND_INS.items()}
    return routers
