"""The page of the service: what an agent does, for people.

Rendered here, on the server; htmx renews the parts that change, uPlot draws the curves.
It only reads. The one thing that it changes is who is logged in.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from functools import wraps
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ...errors import missing_extra
from ..insight import Insight
from ..keys import NAME, Key
from ..messages import encode
from ..node import Node
from ..problems import Problem, problem_of
from . import pictures, session, static, words
from .curves import coloured, curves

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
except ImportError:
    raise missing_extra("the page", "serve") from None

log = logging.getLogger("ironarm")
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # not no-referrer: browsers would then send forms with the origin "null"
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
HTMX = {
    "allowEval": False,
    "allowScriptTags": False,
    "includeIndicatorStyles": False,
    "selfRequestsOnly": True,
    "historyEnabled": False,
}
FOREVER = "public, max-age=31536000, immutable"
"""For files whose address changes when they do."""
FORM_BYTES = 4096
LISTED = 50
"""Agents on one page of the list."""
ROWS = 50
"""Arms and sources in a table, at most."""
COUNTED = {
    "late": "rewards that came after their decision had expired or was cancelled",
    "contradicting": "rewards that differ from the one stored",
    "refused": "rewards that are not finite numbers, or cannot be read",
    "repeated": "rewards and decisions sent again, and stored once",
}
View = Callable[[Request], Awaitable[Response]]


class Page:
    """The page of a node."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._templates = Environment(
            loader=PackageLoader(__package__),
            autoescape=True,
            undefined=StrictUndefined,
        )
        self._templates.filters.update(
            shown=words.shown,
            sender=words.sender,
            number=words.number,
            percent=words.percent,
            confidence=words.confidence,
            odds=words.odds,
            moment=words.moment,
        )
        self._templates.globals.update(
            htmx=encode(HTMX).decode(),
            several=words.several,
            finite=math.isfinite,
            static=static.address,
        )

    def routes(self) -> list[Route]:
        """Return the routes."""
        views: list[tuple[str, str, View]] = [
            ("/", "GET", self.agents),
            ("/agents/{agent}", "GET", self.agent),
            ("/agents/{agent}/parts", "GET", self.parts),
            ("/agents/{agent}/curves", "GET", self.curves),
            ("/login", "GET", self.login),
            ("/login", "POST", self.log_in),
            ("/logout", "POST", self.log_out),
            ("/static/{name:path}", "GET", self.file),
        ]
        return [Route(path, self._guarded(view), methods=[verb]) for path, verb, view in views]

    def _guarded(self, view: View) -> View:
        """Give every answer its headers, and errors a page."""

        @wraps(view)
        async def guarded(request: Request) -> Response:
            try:
                response = await view(request)
            except ClientDisconnect:
                raise
            except _LoginFirst:
                response = self._to_login(request)
            except Exception as error:
                problem = problem_of(error)
                if problem.status == 500:
                    log.error("a page failed", exc_info=error)
                response = self._problem(request, problem)
            for name, value in HEADERS.items():
                response.headers[name] = value
            return response

        guarded.__name__ = f"page_{view.__name__}"  # by which requests are counted
        return guarded

    def _render(self, request: Request, template: str, status: int = 200, **data: Any) -> Response:
        key = session.key_of(self.node, request)
        text = self._templates.get_template(template).render(
            key=key, token=session.token(self.node, request) if key else "", **data
        )
        return Response(text, status, media_type="text/html")

    def _problem(self, request: Request, problem: Problem) -> Response:
        title = HTTPStatus(problem.status).phrase
        return self._render(
            request, "problem.html", problem.status, title=title, detail=problem.detail
        )

    # who may look

    def _reader(self, request: Request) -> Key | None:
        """Return the session's key, None if none is needed; or send to the login."""
        if self.node.keys.empty:
            return None
        key = session.key_of(self.node, request)
        if key is None:
            raise _LoginFirst
        return key

    def _may_read(self, request: Request, name: str) -> None:
        key = self._reader(request)
        if key is not None:
            self.node.check_key(key, "read", name)

    def _to_login(self, request: Request) -> Response:
        if request.headers.get("hx-request") or request.url.path.endswith("/curves"):
            # a part of a page that is open: the script opens the login instead
            return Response(status_code=401, headers={"hx-redirect": "/login"})
        return RedirectResponse(f"/login?next={_inside(request.url.path)}", 303)

    async def login(self, request: Request) -> Response:
        """Ask for a key."""
        if self.node.keys.empty or session.key_of(self.node, request) is not None:
            return RedirectResponse(_inside(request.query_params.get("next")), 303)
        return self._login_form(request, _inside(request.query_params.get("next")))

    def _login_form(
        self, request: Request, next: str, wrong: str = "", status: int = 200
    ) -> Response:
        nonce, form = session.new_form(self.node, request)
        text = self._templates.get_template("login.html").render(
            key=None, form=form, next=next, wrong=wrong
        )
        response = Response(text, status, media_type="text/html")
        session.keep_form(self.node, request, response, nonce)
        return response

    async def log_in(self, request: Request) -> Response:
        """Take a key."""
        given = await _form(request)
        next = _inside(given.get("next"))
        if not session.form_is_ours(self.node, request, given.get("form", "")):
            wrong = "That form was too old. Please try again."
            return self._login_form(request, next, wrong, 403)
        if self.node.keys.empty:
            return RedirectResponse(next, 303)
        try:
            key = await self.node.allow(given.get("key", "").strip(), "read", None)
        except Problem as problem:
            return self._login_form(request, next, problem.detail, problem.status)
        assert key is not None
        response = RedirectResponse(next, 303)
        session.begin(self.node, request, response, key)
        return response

    async def log_out(self, request: Request) -> Response:
        """Forget the key."""
        given = await _form(request)
        if not session.token_is_ours(self.node, request, given.get("token", "")):
            raise Problem(403, "this form does not belong to your session; open the page again.")
        response = RedirectResponse("/login", 303)
        session.end(self.node, response)
        return response

    # what there is to see

    async def agents(self, request: Request) -> Response:
        """List the agents."""
        key = self._reader(request)
        names = [name for name in self.node.names() if key is None or key.may("read", name)]
        text = request.query_params.get("page", "1")
        page = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 1
        pages = max(1, -(-len(names) // LISTED))
        page = min(max(1, page), pages)
        found: list[tuple[str, Insight | None, str]] = []
        for name in names[(page - 1) * LISTED : page * LISTED]:
            try:
                number = await self.node.number_of(name)
                found.append((name, await self.node.insights.of(number, name, 10.0), ""))
            except Exception as error:
                # one agent that cannot be read must not hide the others
                found.append((name, None, problem_of(error).detail))
        part = bool(request.headers.get("hx-request"))
        return self._render(
            request,
            "agents_list.html" if part else "agents.html",
            found=found,
            count=len(names),
            page=page,
            pages=pages,
        )

    async def agent(self, request: Request) -> Response:
        """Show one agent."""
        return await self._agent(request, "agent.html")

    async def parts(self, request: Request) -> Response:
        """Show what has changed of one agent."""
        return await self._agent(request, "agent_parts.html")

    async def _insight(self, request: Request) -> tuple[int, Insight]:
        name = request.path_params["agent"]
        self._may_read(request, name)
        number = await self.node.number_of(name)
        return number, await self.node.insights.of(number, name)

    async def _agent(self, request: Request, template: str) -> Response:
        _, insight = await self._insight(request)
        name = insight.name
        counts = {kind: self.node.counts.events[name, kind] for kind in COUNTED}
        version = _version(insight, counts)
        if template != "agent.html" and request.query_params.get("seen") == version:
            return Response(status_code=204)
        colours = coloured(insight)
        lines = pictures.whiskers(insight)
        places = range(len(insight.arms))
        order = sorted(places, key=lambda k: (insight.arms[k].arm not in colours, k))[:ROWS]
        return self._render(
            request,
            template,
            i=insight,
            version=version,
            rows=[(insight.arms[k], lines[k]) for k in order],
            colours=colours,
            rivals={insight.arms[j].arm for j in insight.best_arm.rivals},
            gauge=pictures.gauge(insight.corruption, insight.tolerance),
            counts=counts,
            counted=COUNTED,
            sources=_listed(insight),
        )

    async def curves(self, request: Request) -> Response:
        """Give the numbers behind the curves."""
        number, insight = await self._insight(request)
        data = await self.node.insights.derived(number, insight.name, curves)
        return Response(data, media_type="application/json")

    async def file(self, request: Request) -> Response:
        """Give a file of the page."""
        name = request.path_params["name"]
        if name not in static.KNOWN:
            raise Problem(404, "there is no such file.")
        response = Response(static.content(name), media_type=static.KNOWN[name])
        if request.query_params.get("v") == static.version(name):
            response.headers["cache-control"] = FOREVER
        return response


class _LoginFirst(Exception):
    """Nobody is logged in."""


def routes(node: Node) -> list[Any]:
    """Return the routes of the page."""
    return list(Page(node).routes())


def _listed(insight: Insight) -> list[Any]:
    """Return the sources to show: all that differ, and some of the others."""
    return list(insight.sources[: max(8, min(ROWS, len(insight.liars) + 4))])


def _version(insight: Insight, counts: dict[str, int]) -> str:
    """Return a text that changes when the page would."""
    return f"{insight.number}.{sum(counts.values())}"


def _inside(address: str | None) -> str:
    """Return an address of this page: the one asked for, if it is one, or the list."""
    front = "/agents/"
    if address and address.startswith(front) and NAME.fullmatch(address[len(front) :]):
        return address
    return "/"


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Problem(415, "this address accepts only the page's own form.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_BYTES:
            raise Problem(413, f"a form has at most {FORM_BYTES:,} bytes.")
    try:
        fields = parse_qs(body.decode(), max_num_fields=10)
    except ValueError:
        raise Problem(422, "the form cannot be read.") from None
    return {name: values[0] for name, values in fields.items()}
