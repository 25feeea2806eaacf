"""Calls of the service, written once for clients that wait and for those that await.

A call is a generator. It yields requests and pauses, gets answers, and returns the
result. `Direct` and `Awaited` differ only in who carries the steps out. So everything
that could be wrong in one of them and right in the other is here, once: what is sent,
what is sent again, and what an answer means.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Generator
from functools import update_wrapper, wraps
from time import monotonic
from types import MethodType
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar, overload

import msgspec

from ..errors import StoreError
from .problems import ERRORS, error_for

P = ParamSpec("P")
T = TypeVar("T")

AGAIN = (429, 502, 503, 504)
"""Answers after which a request is sent again: the service, or a gateway before it,
cannot take it now."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0


class Request(NamedTuple):
    """What to send. `once` is its Idempotency-Key, the same however often it is sent.

    `done` is the error that shows, if a try was lost, that it had been carried out.
    """

    method: str
    path: str
    body: bytes | None = None
    once: str | None = None
    done: type[Exception] | None = None


class Reply(NamedTuple):
    """What came back."""

    status: int
    body: bytes
    retry_after: str | None = None


class Lost(NamedTuple):
    """No answer came.

    If the request was `sent`, it is not known whether it was carried out.
    """

    why: str
    sent: bool = True


class Pause(NamedTuple):
    """Wait so many seconds."""

    seconds: float


Steps = Generator[Request | Pause, Any, T]


class Direct:
    """Somebody whose calls return when they are done."""

    def _run(self, steps: Steps[T]) -> T:
        raise NotImplementedError


class Awaited:
    """Somebody whose calls are awaited."""

    async def _run(self, steps: Steps[T]) -> T:
        raise NotImplementedError


class _Written:
    """A function that returns steps, in the place of a method."""

    def __init__(self, steps: Callable[..., Any]) -> None:
        self._steps = steps
        update_wrapper(self, steps)  # type: ignore[arg-type]


class call(_Written, Generic[P, T]):  # noqa: N801  # a decorator, like `property`
    """A method written as steps: it returns their result, or an awaitable of it."""

    def __init__(self, steps: Callable[Concatenate[Any, P], Steps[T]]) -> None:
        super().__init__(steps)

    @overload
    def __get__(self, who: None, owner: Any = None) -> Callable[..., Steps[T]]: ...
    @overload
    def __get__(self, who: Direct, owner: Any = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, who: Awaited, owner: Any = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, who: Any, owner: Any = None) -> Any:
        """Return the method of this object; of the class, the steps themselves."""
        if who is None:
            return self._steps
        steps = MethodType(self._steps, who)
        # `help` then shows what the method does, and its parameters but for `self`
        method = wraps(steps)(lambda *args, **named: who._run(steps(*args, **named)))
        vars(method).pop("__signature__", None)
        return method


class known(_Written, Generic[T]):  # noqa: N801
    """A property written as steps: their result, or an awaitable of it."""

    def __init__(self, steps: Callable[[Any], Steps[T]]) -> None:
        super().__init__(steps)

    @overload
    def __get__(self, who: None, owner: Any = None) -> Callable[[Any], Steps[T]]: ...
    @overload
    def __get__(self, who: Direct, owner: Any = None) -> T: ...
    @overload
    def __get__(self, who: Awaited, owner: Any = None) -> Coroutine[Any, Any, T]: ...
    def __get__(self, who: Any, owner: Any = None) -> Any:
        """Return the value; of the class, the steps themselves."""
        return self._steps if who is None else who._run(self._steps(who))


class Backoff:
    """How long to wait before the next try, and when to give up.

    Pauses double, and are random, so that clients that failed together do not return
    together.
    """

    def __init__(self, patience: float) -> None:
        self._end = monotonic() + patience
        self._tries = 0

    def pause(self, asked: str | None, error: Exception) -> Pause:
        """Return the pause before the next try; raise the error if time is up.

        `asked` is a Retry-After in seconds, below which there is no use in trying.
        """
        seconds = random.uniform(0.5, 1.0) * min(LONGEST_PAUSE, FIRST_PAUSE * 2**self._tries)
        self._tries += 1
        if asked is not None and asked.isascii() and asked.isdigit():
            seconds += float(asked[:9])
        if monotonic() + seconds > self._end:
            raise error
        return Pause(seconds)


def answer_to(request: Request, address: str, patience: float) -> Steps[Reply]:
    """Send a request, if need be again, and return the answer if it is a good one.

    No request can be carried out twice: it sets something to a value, or it carries a
    key by which the service knows it again.
    """
    backoff, lost, sent = Backoff(patience), False, False
    while True:
        got = yield request
        if isinstance(got, Lost):
            lost, sent = True, sent or got.sent
            done = " What was asked may be done or not." if sent else " Nothing was done."
            error: Exception = StoreError(
                f"the service at {address} did not answer: {got.why}."
                + ("" if request.method == "GET" else done)
            )
            yield backoff.pause(None, error)
            continue
        assert isinstance(got, Reply)
        if 200 <= got.status < 300:
            return got
        error = error_in(got, address)
        if lost and request.done is not None and isinstance(error, request.done):
            return got
        if got.status not in AGAIN:
            raise error
        lost = lost or got.status != 429
        yield backoff.pause(got.retry_after, error)


def error_in(answer: Reply, address: str) -> Exception:
    """Return the error that an answer stands for: the library's, with its sentence."""
    try:
        problem = msgspec.json.decode(answer.body)
        return error_of(problem)
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError):
        return error_for(answer.status)(
            f"{address} answered with status {answer.status} and no reason; is it the address of "
            "an ironarm service?"
        )


def error_of(problem: dict[str, Any]) -> Exception:
    """Return the error that problem details stand for."""
    kind = ERRORS.get(problem["error"]) or error_for(problem["status"])
    return kind(problem["detail"])


def content(answer: Reply, address: str) -> Any:
    """Return the data of an answer."""
    try:
        return msgspec.json.decode(answer.body)
    except msgspec.DecodeError:
        raise StoreError(
            f"{address} answered with something that is not JSON; is it the address of an ironarm "
            "service?"
        ) from None
