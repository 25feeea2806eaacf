"""The command line: one verb for each job."""

from __future__ import annotations

import argparse
import io
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

from .errors import InvalidInput, IronarmError
from .naming import own_code
from .naming.own_faults import raised_in
from .signals import ended_by_exceptions
from .version import __version__

VERBS = {
    "simulate": "simulate policies under an attack",
    "reproduce": "the paper's study, its claims checked, in one report",
    "arena": "every policy against every attack, and which to use when",
    "compare": "your own policy against the best, in one page",
    "check": "check a policy of your own",
    "sweep": "policy × attack × rho × gap × parameters, from a file",
    "certify": "what theory promises for given arms, rho and policy",
    "worst-case": "search for the attack that hurts a policy most",
    "plot": "draw a result, a sweep, a radio run, a recording or an agent",
    "radio": "the cognitive-radio testbed",
    "serve": "serve agents over HTTP",
    "keys": "make, list and revoke keys of a service",
    "agents": "create, list and archive agents",
    "scenarios": "play routers, in any language, on scenarios that replay",
    "demo": "routers side by side, live",
    "decide": "one decision of an agent in a file, for scripts",
    "learn": "rewards for the decisions of an agent in a file, for scripts",
    "log": "check, export or prune the log of a durable agent",
    "warm": "compile policies for live use",
    "policies": "which policies there are, with their parameters",
    "attacks": "which attacks there are, with their parameters",
    "bandits": "which bandits there are, with their parameters",
}
"""What `--help` says of each verb. The module in `commands` that has its name is loaded
if the verb is called.
"""

EXAMPLES = """\
examples:
  ironarm simulate                            the paper's setting at rho = 0.125, three policies
  ironarm simulate --policies MedEUCB 'UCB(alpha=1)' --rho 0.3 --trials 100 --plot regret.png
  ironarm reproduce --out results             the paper's synthetic experiment: tables and figures
  ironarm arena                               every policy against every attack: which to use when
  ironarm compare mine.py:MyPolicy            your own policy against the best
  ironarm sweep sweep.toml                    every combination that a file lists, in parallel
  ironarm certify --means 1,2,4 --rho 0.2     what theory promises, and how much corruption
  ironarm worst-case --policy UCB --rho 0.05  the attack that hurts a policy most
  ironarm plot result.npz -o figure.pdf       the figure of whatever ironarm has saved
  ironarm radio run                           the radio testbed at signal level
  ironarm serve --data agents                 agents behind HTTP, with a page
  ironarm scenarios run --router "./mine"     a router in any language on scenarios that break
  ironarm demo router                         LiteLLM's strategies and ironarm's, side by side
  ironarm decide mirrors.db --arms eu us      one decision of an agent in a file, for scripts
  ironarm learn mirrors.db ID 0.35            and its reward
  ironarm log verify agent.db                 the log of a durable agent
  ironarm policies                            which policies there are, and what you must know
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal without Greek letters gets question marks, not a traceback
            stream.reconfigure(errors="replace")
    try:
        with ended_by_exceptions(), _plain_warnings():
            words = _negative_numbers(arguments)
            verb = next((word for word in words if not word.startswith("-")), "")
            modules = {verb: _module(verb)} if verb in VERBS else {}
            parser = _parser(modules)
            options = parser.parse_args(words)
            if not modules:
                parser.print_help()
                return 0
            return int(modules[verb].run(options))
    except IronarmError as error:
        print(f"ironarm: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("ironarm: interrupted", file=sys.stderr)
        # exec of text, which makes dataclasses, sets a flag in CPython when an
        # interrupt passes through it; Python would then exit by the signal, not with
        # 130. The next exec clears the flag
        exec("")
        return 130
    except BrokenPipeError:
        # stdout is closed (`| head`): suppress the error Python would print at exit
        sys.stderr.close()
        return 0
    except OSError as error:  # a full disk, a folder that cannot be written
        print(
            f"ironarm: {error.filename or 'a file'} cannot be read or written: "
            f"{error.strerror or error}.",
            file=sys.stderr,
        )
        return 2
    except Exception as error:
        if not own_code.is_behind(error):
            raise
        # an attack's or a bandit's own code; a policy's has become a PolicyFault before
        print(f"ironarm: your own code failed: {raised_in(error)}.", file=sys.stderr)
        return 2


def _negative_numbers(arguments: Sequence[str] | None) -> list[str]:
    """Return the words of the command line; numbers below 0 are marked by a blank.

    argparse would take -1e-5 and -inf for options; with a blank in it, a word is none.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    return [f" {word}" if word[:1] == "-" and _is_number(word) else word for word in words]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show ironarm's own warnings without file and line."""
    usual = warnings.formatwarning

    def plain(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        line: str | None = None,
    ) -> str:
        return (
            f"ironarm: {message}\n"
            if category.__module__.startswith("ironarm.")
            else usual(message, category, filename, lineno, line)
        )

    warnings.formatwarning = plain
    try:
        yield
    finally:
        warnings.formatwarning = usual


class Parser(argparse.ArgumentParser):
    """A parser whose errors are sentences like all others, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        wrong = re.fullmatch(r"argument (\S+): invalid (float|int) value: (.*)", message)
        if wrong:
            kind = "a number" if wrong[2] == "float" else "a whole number"
            message = f"{wrong[1]} must be {kind}, got {wrong[3]}"
        raise InvalidInput(f"{message}. See `{self.prog} --help`.")


def _module(verb: str) -> Any:
    return import_module(f".commands.{verb.replace('-', '_')}", __package__)


def _parser(modules: Mapping[str, Any]) -> argparse.ArgumentParser:
    """Return a parser that knows the options of the verbs whose modules are given."""
    usual = argparse.RawDescriptionHelpFormatter
    parser = Parser(
        prog="ironarm",
        description=(
            "Choose the best of several options from feedback that an attacker can corrupt."
        ),
        epilog=EXAMPLES,
        formatter_class=usual,
    )
    parser.add_argument("--version", action="version", version=f"ironarm {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    for verb, what in VERBS.items():
        added = verbs.add_parser(verb, help=what, formatter_class=usual)
        if verb in modules:
            modules[verb].add(added)
    return parser


if __name__ == "__main__":
    sys.exit(main())
