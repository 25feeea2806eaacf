"""`ironarm learn`: rewards for a durable agent's decisions, for scripts."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..errors import BadFile, InvalidInput
from .common import EXIT_CODES, describe, exit_code

EXAMPLES = f"""\
examples:
  ironarm learn mirrors.db "$id" 0.35             the reward of a decision of `ironarm decide`
  ironarm learn mirrors.db "$id" inf              it failed: the worst reward if small is good
  ironarm learn mirrors.db "$id" --cancel         it will never get a reward
  ironarm learn mirrors.db --expire 3600          cancel all decisions older than an hour
  ironarm learn mirrors.db --batch rewards.jsonl  lines like {{"id": "...", "reward": 0.35}}

Repeating a reward changes nothing, so a script may repeat the call.

{EXIT_CODES}"""


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        "Give decisions of a durable agent their rewards, and print how many it learnt as JSON.",
        EXAMPLES,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the agent's file")
    parser.add_argument("id", nargs="?", metavar="ID", help="the decision")
    parser.add_argument(
        "reward", nargs="?", metavar="REWARD", help="a number; inf and -inf are numbers too"
    )
    parser.add_argument("--source", metavar="NAME", help="who sent the reward")
    parser.add_argument("--cancel", action="store_true", help="close the decision, no reward")
    parser.add_argument(
        "--batch",
        metavar="JSONL",
        help="a file of lines with id, reward and optionally source, or - for standard input; "
        "if one line is invalid, none is learnt",
    )
    parser.add_argument(
        "--expire", type=float, metavar="SECONDS", help="then cancel decisions older than this"
    )


def run(options: argparse.Namespace) -> int:
    """Learn, and print how much."""
    return exit_code(lambda: _learn(options))


def _learn(options: argparse.Namespace) -> None:
    from ..agent import DurableAgent

    rows = _rows(options)
    with DurableAgent(options.file) as agent:
        if options.cancel:
            agent.cancel(options.id)
        agent.learn_batch(rows)
        done = {"learnt": len(rows), "cancelled": int(options.cancel)}
        if options.expire is not None:
            done["expired"] = agent.expire(options.expire)
        done["open"] = len(agent.open_decisions)
    print(json.dumps(done))


def _rows(options: argparse.Namespace) -> list[tuple[Any, ...]]:
    """Return the decisions and rewards that the options give."""
    one, many = options.id is not None, options.batch is not None
    if (one and many) or not (one or many or options.expire is not None):
        raise InvalidInput(
            "give one decision and its reward, or --batch, or --expire; see `ironarm learn --help`."
        )
    if options.source is not None and options.reward is None:
        raise InvalidInput("--source is for a single reward; in a batch each line has its own.")
    if many:
        if options.cancel:
            raise InvalidInput("--cancel needs the ID of a decision, got --batch.")
        return _batch(options.batch)
    if options.cancel:
        if not one or options.reward is not None:
            raise InvalidInput("--cancel takes the ID of a decision, and no reward.")
        return []
    if not one:
        return []
    if options.reward is None:
        raise InvalidInput(f"decision {options.id} needs a reward, or --cancel.")
    return [_row("the command line", options.id, options.reward, options.source)]


def _batch(name: str) -> list[tuple[Any, ...]]:
    """Return the rows of a file of JSON lines."""
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadFile(f"--batch {name} is not text in UTF-8.") from None
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        where = f"line {number} of --batch {name}"
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except (json.JSONDecodeError, RecursionError):
            data = None
        if not isinstance(data, dict) or not {"id", "reward"} <= data.keys() <= {
            "id",
            "reward",
            "source",
        }:
            raise BadFile(
                f'{where} must be an object like {{"id": "...", "reward": 1.5}}, optionally with '
                f"a source, got {line[:100]!r}."
            )
        rows.append(_row(where, data["id"], data["reward"], data.get("source")))
    return rows


def _row(where: str, id: object, reward: object, source: object) -> tuple[Any, ...]:
    """Return one row; a reward may be text, because JSON has no infinity."""
    if isinstance(reward, str):
        try:
            reward = float(reward)
        except ValueError:
            raise InvalidInput(f"{where}: a reward must be a number, got {reward!r}.") from None
    return (id, reward) if source is None else (id, reward, source)
