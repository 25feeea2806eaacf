"""Errors as HTTP answers: problem details (RFC 9457) with the library's sentences."""

from __future__ import annotations

import http
import logging
import math
from time import monotonic
from typing import Any

from ..errors import (
    BadFile,
    ClosedDecision,
    InvalidInput,
    MissingExtra,
    NotAllowed,
    OtherAgent,
    OtherReward,
    PrunedEntries,
    StoreError,
    UnknownAgent,
    UnknownArm,
    UnknownDecision,
)

log = logging.getLogger("ironarm")
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (ClosedDecision, 410),
    (PrunedEntries, 410),
    (UnknownDecision, 404),
    (UnknownAgent, 404),
    (UnknownArm, 422),
    (OtherReward, 409),
    (OtherAgent, 409),
    (InvalidInput, 422),
    (MissingExtra, 501),
    (StoreError, 503),
)


ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (*(kind for kind, _ in STATUS), NotAllowed)
}
"""The errors that a problem may name, for a client to raise."""


STORE_FAILED = (
    "the store does not answer, or cannot be written to. Nothing was stored, or it is not known "
    "whether it was. Try again; the service's own log says why."
)


STORE_DAMAGED = "the agent's log is damaged; the service's own log says where."


def error_for(status: int) -> type[Exception]:
    """Return the library's error for a status, where the problem names none."""
    if status in (401, 403):
        return NotAllowed
    return StoreError if status == 429 or status >= 500 else InvalidInput


class Problem(Exception):
    """A request that cannot be answered as asked.

    `error` is the library's error that it is for a client.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        retry_after: float | None = None,
        error: type[Exception] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.retry_after = status, detail, retry_after
        self.error = error or error_for(status)


def problem_of(error: Exception) -> Problem:
    """Return the problem that an error is for who sent the request."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, StoreError) and error.__cause__ is not None:
        # the database's own words name its address, its files and its users
        return Problem(503, STORE_FAILED, 1.0, StoreError)
    if isinstance(error, BadFile):  # it names the file
        return Problem(500, STORE_DAMAGED, None, StoreError)
    for kind, status in STATUS:
        if isinstance(error, kind):
            return Problem(status, str(error), 1.0 if status == 503 else None, kind)
    return Problem(500, "the service failed; its own log says more.")


def details(problem: Problem) -> dict[str, Any]:
    """Return a problem as the body of an answer."""
    return {
        "type": "about:blank",
        "title": http.HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.detail,
        "error": problem.error.__name__,
    }


def unknown_decision(id: str) -> UnknownDecision:
    """Return the error for an id that is not there, or not for this key to know."""
    return UnknownDecision(f"there is no decision {id[:100]!r}; ids come from decisions.")


def refusal(error: Exception) -> dict[str, Any]:
    """Return the answer to a line that is refused."""
    return details(noted(error))


def noted(error: Exception) -> Problem:
    """Return the problem that an error is; what only the service may know is logged."""
    problem = problem_of(error)
    if problem.detail in (STORE_DAMAGED, STORE_FAILED):
        _store_failures.report(error)
    elif problem.status == 500:
        log.error("a request failed", exc_info=error)
    return problem


class _Failures:
    """What the store said, in the log: at most one line a second."""

    def __init__(self) -> None:
        self._last = -math.inf

    def report(self, error: Exception) -> None:
        if monotonic() - self._last >= 1.0:
            self._last = monotonic()
            log.warning("%s", error)


_store_failures = _Failures()
