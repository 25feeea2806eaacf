"""Many lines in one request, each with its own answer.

A long batch must not hold others up. The event loop goes on after some lines, and the
writer gets no more at a time than one turn holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from .hosted import Hosted
from .messages import encode
from .writer import AT_ONCE, Operation, Work, Writer

SLICE = 16
"""Lines that are handled before the event loop does something else."""
REST = 0.001
"""Seconds; uvloop takes less for nothing."""


class Asked(NamedTuple):
    """What a line asks for: work on an agent, and the answer that its outcome gives.

    `looks_up` names the decision that the store will be asked for, if there is one.
    """

    agent: int
    work: Work
    looks_up: Callable[[Hosted], str | None]
    answer: Callable[[Operation], dict[str, Any]]


Read = Callable[[int, bytes], Awaitable[Asked]]
"""Reads the line at a place; raises if it cannot be."""
Refusal = Callable[[Exception], dict[str, Any]]


async def answers_to(lines: list[bytes], read: Read, refusal: Refusal, writer: Writer) -> bytes:
    """Return the answers, a line each and in the same order."""
    found: list[bytes] = []
    for start in range(0, len(lines), AT_ONCE):
        part = list(enumerate(lines[start : start + AT_ONCE], start))
        found += await _answers_to_part(part, read, refusal, writer)
    return b"".join(found)


async def _answers_to_part(
    lines: list[tuple[int, bytes]], read: Read, refusal: Refusal, writer: Writer
) -> list[bytes]:
    answers: dict[int, bytes] = {}
    asked: dict[int, list[tuple[int, Asked]]] = {}
    for place, line in lines:
        if place % SLICE == 0:
            await _give_way(writer)
        try:
            each = await read(place, line)
        except Exception as error:
            answers[place] = _line(refusal(error))
        else:
            asked.setdefault(each.agent, []).append((place, each))
    groups = list(asked.values())
    done: list[Any] = await asyncio.gather(
        *(_submit([each for _, each in group], writer) for group in groups),
        return_exceptions=True,
    )
    for group, outcome in zip(groups, done, strict=True):
        for k, (place, each) in enumerate(group):
            if len(answers) % SLICE == 0:
                await _give_way(writer)
            if isinstance(outcome, list):
                answers[place] = _line(each.answer(outcome[k]))
            else:  # too many wait
                answers[place] = _line(refusal(outcome))
    return [answers[place] for place, _ in lines]


async def _give_way(writer: Writer) -> None:
    """Let the event loop go on, and the writer's thread, if it has something to do.

    Python's lock goes to who asks for it only after a while, and the writer asks for it
    after each call of the database. So the loop rests meanwhile.
    """
    await asyncio.sleep(REST if writer.working else 0)


async def _submit(group: list[Asked], writer: Writer) -> list[Operation]:
    """Let the writer do what lines ask of one agent."""

    def ids(hosted: Hosted) -> list[str]:
        return [id for each in group if (id := each.looks_up(hosted)) is not None]

    return await writer.submit_many(group[0].agent, [each.work for each in group], ids=ids)


def _line(answer: dict[str, Any]) -> bytes:
    return encode(answer) + b"\n"
