"""`ironarm log`: the log of a durable agent: checked, as a table, or pruned."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import BadFile, InvalidInput
from ..naming import own_code
from ..policies import Policy, policy_from_text
from ..show.text import counted
from .common import check_place, describe

EXAMPLES = """\
examples:
  ironarm log verify ads.db                    is every entry there, and unchanged?
  ironarm log verify ads.db --since 7:5d0c...  is that entry still the one I wrote down?
  ironarm log export ads.db -o rewards.csv     rewards: time, arm, reward, source, decision
  ironarm log export ads.db --all -o log.jsonl every entry, as JSON lines
  ironarm certify --csv rewards.csv --rho 0.1  how much corruption the logged arms can take
  ironarm simulate --bandit 'ReplayBandit("rewards.csv")' --policies CoherentIMED UCB --rho 0.1
                                               how these policies would have done under attack
  ironarm log verify agents                    every agent of a service's folder, or database
  ironarm log export agents --agent ads --without-source bot-7 -o rewards.csv
  ironarm log prune ads.db --keep 100000       delete all but the last entries

`verify` prints the last entry's number and hash. Write them down elsewhere: whoever can write to
the log can write a whole new one, and only `--since` finds that.

`prune` replaces the entries that it deletes by the agent's state. It forgets closed decisions:
a reward that is sent again for one of them is refused as unknown.
"""
COLUMNS = ("time", "arm", "reward", "source", "decision")


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        "Check the log of a durable agent, write its rewards as a table, or shorten it.",
        EXAMPLES,
    )
    parser.add_argument("what", choices=["verify", "export", "prune"], help="what to do")
    parser.add_argument(
        "place",
        metavar="PLACE",
        help="an agent's file, the folder of a service, or postgresql://...",
    )
    parser.add_argument("--agent", metavar="NAME", help="one agent of a service")
    parser.add_argument(
        "-o", "--out", type=Path, metavar="OUT", help="where to write (default: the terminal)"
    )
    parser.add_argument(
        "--without-source",
        action="append",
        default=[],
        metavar="S",
        help="leave out the rewards of a source; may be repeated",
    )
    parser.add_argument(
        "--all", action="store_true", help="export every entry as JSON lines, not only rewards"
    )
    parser.add_argument(
        "--keep",
        type=int,
        default=0,
        metavar="N",
        help="prune: keep the last N entries, or up to 4,096 more (0)",
    )
    parser.add_argument(
        "--since",
        metavar="NUMBER:HASH",
        help="verify that this entry is there, as an earlier verify printed it",
    )
    parser.add_argument(
        "--own",
        metavar="POLICY",
        help="for an agent with a policy of your own: that policy, as mine.py:MyPolicy",
    )


def run(options: argparse.Namespace) -> int:
    """Check, export or prune."""
    from ..agent.file import damage_reported
    from ..service.directory import number_of
    from ..service.location import StoreLocation

    if options.out is not None:
        check_place("--out", options.out, "rewards.csv")
        if options.out.resolve() == Path(options.place).resolve():
            raise InvalidInput(f"--out {options.out} is the log itself; choose another file.")
    if options.keep < 0:
        raise InvalidInput(f"--keep must be at least 0, got {options.keep}.")
    since = None if options.since is None else _since(options.since)
    with own_code.allowed():
        policy = None if options.own is None else policy_from_text(options.own)
    place = StoreLocation.of(options.place)
    store = place.open()
    try:
        with damage_reported(str(place)):
            if options.what == "export":
                return _export(store, number_of(store, options.agent), options)
            return _each(store, place, options, policy, since)
    finally:
        store.close()


def _each(
    store: Any,
    place: Any,
    options: argparse.Namespace,
    policy: Policy | None,
    since: tuple[int, bytes] | None,
) -> int:
    """Verify or prune the logs of all agents, or of one."""
    from ..service.directory import agents_of, number_of

    names = agents_of(store)
    if options.what == "verify":
        store.refuse_damage()
        if lost := store.logged() - set(names.values()):
            raise BadFile(f"{place} is damaged: the log of agent {min(lost)} has no name.")
    if options.agent is not None or since is not None:
        names = {options.agent or "": number_of(store, options.agent)}
    all_proved = True
    for name, number in sorted(names.items()):
        shown = f"{place}, {name}" if name else str(place)
        if options.what == "verify":
            said, proved = _verified(store, number, policy, since)
            all_proved &= proved
        else:
            said = _pruned(store, number, policy, options.keep)
        print(f"{shown}: {said}")
    return 0 if all_proved else 1


def _since(text: str) -> tuple[int, bytes]:
    """Return the number and the hash of an entry, as `verify` prints them."""
    number, _, digest = text.partition(":")
    if not number.isdecimal() or re.fullmatch("[0-9a-f]{32}", digest) is None:
        raise InvalidInput(f"--since must be the NUMBER:HASH that verify prints, got {text!r}.")
    return int(number), bytes.fromhex(digest)


def _verified(
    store: Any, number: int, policy: Policy | None, since: tuple[int, bytes] | None
) -> tuple[str, bool]:
    """Check one log; return what was found, and whether it is what `since` asks for."""
    from ..agent.verify import verified
    from ..simulation.progress import Progress

    end, pruned = store.end(number), store.pruned(number)
    total = (0 if end is None else end[0]) - (0 if pruned is None else pruned[0])
    with Progress("checking entries", total, True) as bar:

        def step(entries: int) -> None:
            bar.advance(entries)
            bar.refresh()

        found = verified(store, number, policy, since, step)
    text = f"{_entries_text(found.entries)}, all there and unchanged"
    if found.prune is not None:
        text += f"; entries up to {found.prune.number} were pruned"
        if found.prune.late:
            text += " before there was a proof of that"
    gone = since is not None and since[0] < found.proof
    if since is not None and found.prune is not None and gone:
        # a chain can be pruned by anybody who writes to the store: only a hash that was
        # written down since proves what the snapshot says
        text += (
            f", among them {since[0]}, so its hash could not be compared"
            if since[0] < found.prune.number
            else f" by entry {found.proof}, so the hash of {since[0]} proves nothing"
        )
    if found.not_replayed:
        print(
            f"snapshots were not compared with the entries: {found.not_replayed}", file=sys.stderr
        )
    return f"{text}; the last is {found.last}:{found.hash.hex()}", not gone


def _pruned(store: Any, number: int, policy: Policy | None, keep: int) -> str:
    """Prune one log, and say what was done."""
    from ..agent.log import Log
    from ..agent.logged import LoggedAgent
    from ..agent.replay import Replay
    from ..agent.verify import verified

    logged = LoggedAgent(Log(store, number), Replay(Path(store.place), policy), lambda frozen: None)
    logged.catch_up()
    logged.seal()
    verified(store, number, policy)  # what is damaged must not be proved by a prune
    count = logged.prune(keep)
    end = store.end(number)
    last = "" if end is None else f"; the last is {end[0]}:{end[2].hex()}"
    why = "" if count else " (a prune ends at a multiple of 4,096 entries)"
    return f"{_entries_text(count)} deleted{why}{last}"


def _entries_text(count: int) -> str:
    return f"{count:,} {'entry' if count == 1 else 'entries'}"


def _export(store: Any, number: int, options: argparse.Namespace) -> int:
    from ..agent.log import Log
    from ..files import whole_file

    log = Log(store, number)
    if (pruned := store.pruned(number)) is not None:
        print(f"the entries up to {pruned[0]} were pruned, so they are left out", file=sys.stderr)
    left_out: Counter[str] = Counter(dict.fromkeys(options.without_source, 0))
    lines = _entries(log) if options.all else _rewards(log, left_out)
    if options.out is None:
        for line in lines:
            sys.stdout.write(line)
    else:
        written = -1 if not options.all else 0  # the first line of CSV has the names
        with whole_file(options.out) as file:
            for line in lines:
                file.write(line.encode())
                written += 1
        what = _entries_text(written) if options.all else counted(written, "reward")
        print(f"wrote {options.out}: {what}")
    for source, count in left_out.items():
        text = f"left out {counted(count, 'reward')} of {source!r}"
        print(text if count else f"no reward is from {source!r}", file=sys.stderr)
    return 0


def _rewards(log: Any, left_out: Counter[str]) -> Iterator[str]:
    """Yield the rewards as lines of CSV, and count those of sources to leave out.

    Failures without a finite reward are left out: nobody could replay them.
    """
    yield ",".join(COLUMNS) + "\n"
    failures = 0
    for entry in log.unread():
        rows: list[tuple[Any, Any, Any]] = []
        if entry.kind == "warmed":
            rows = json.loads(entry.extra)
        elif entry.kind in ("rewarded", "observed", "failed", "expired"):
            if entry.kind == "failed" and math.isinf(entry.value):
                failures += 1
            elif entry.value is not None:
                rows = [(entry.arm, entry.value, entry.source)]
        for arm, reward, source in rows:
            buffer = io.StringIO()
            sender = "" if source is None else source
            if source is not None and str(source) in left_out:
                left_out[str(source)] += 1
                continue
            line = [entry.time, arm, reward, sender, entry.decision or ""]
            csv.writer(buffer, lineterminator="\n").writerow(line)
            yield buffer.getvalue()
    if failures:
        what = "failure has" if failures == 1 else "failures have"
        print(f"{failures:,} {what} no finite reward, left out; see --all", file=sys.stderr)


def _entries(log: Any) -> Iterator[str]:
    """Yield every entry as a line of JSON."""
    from ..agent.log import entry_fields
    from ..files import json_ready

    for entry in log.unread():
        yield json.dumps(json_ready(entry_fields(entry))) + "\n"
