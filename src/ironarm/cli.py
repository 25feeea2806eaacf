"""The command line: one verb for each job."""

from __future__ import annotations

import argparse
import io
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from . import __version__
from .commands import (
    arena,
    certify,
    compare,
    listing,
    plot,
    radio,
    reproduce,
    simulate,
    sweep,
    worst_case,
)
from .errors import IronarmError
from .signals import ended_by_exceptions

VERBS: dict[str, Any] = {
    "simulate": simulate,
    "reproduce": reproduce,
    "arena": arena,
    "compare": compare,
    "sweep": sweep,
    "certify": certify,
    "worst-case": worst_case,
    "plot": plot,
    "radio": radio,
    "policies": listing.POLICIES,
    "attacks": listing.ATTACKS,
    "bandits": listing.BANDITS,
}

EXAMPLES = """\
examples:
  ironarm simulate                            the paper's setting at rho = 0.125, all nine policies
  ironarm simulate --policies MedEUCB 'UCB(alpha=1)' --rho 0.3 --trials 100 --plot regret.png
  ironarm reproduce --out results             the paper's synthetic experiment: tables and figures
  ironarm arena                               every policy against every attack: which to use when
  ironarm compare mine.py:MyPolicy            your own policy against the best of them
  ironarm sweep sweep.toml                    every combination that a file lists, in parallel
  ironarm certify --means 1,2,4 --rho 0.2     what theory promises, and how much corruption
  ironarm worst-case --policy UCB --rho 0.05  the attack that hurts a policy most
  ironarm plot result.npz -o figure.pdf       the figure of whatever ironarm has saved
  ironarm radio run                           the radio testbed at signal level
  ironarm policies                            which policies there are, and what they are told
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal without Greek letters gets question marks, not a traceback
            stream.reconfigure(errors="replace")
    try:
        with ended_by_exceptions(), _plain_warnings():
            parser = _parser()
            options = parser.parse_args(arguments)
            if options.verb is None:
                parser.print_help()
                return 0
            return VERBS[options.verb].run(options)
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ironarm",
        description=(
            "Choose the best of several options from feedback that an attacker can corrupt."
        ),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ironarm {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    for verb in VERBS.values():
        verb.add(verbs)
    return parser


if __name__ == "__main__":
    sys.exit(main())
