"""Who looks at the page: a key, remembered by a signed cookie.

The cookie holds the key's id and a time, never the key. It is signed, by itsdangerous,
with a secret that all nodes share. Each request looks the key up again: a revoked key
ends its sessions. Browsers send a cookie to every port of a host, so its name has the
service in it: who looks at two services on one host stays logged in at both.
"""

from __future__ import annotations

import hashlib
import secrets
from time import time

from itsdangerous import BadSignature, Signer
from starlette.requests import Request
from starlette.responses import Response

from ..keys import Key
from ..node import Node

LASTS = 12 * 3600
"""Seconds until the page asks for the key again."""


def signer(node: Node, purpose: str) -> Signer:
    """Return what signs for one purpose, and compares in constant time.

    Each purpose has a key of its own, so no signature serves for another.
    """
    return Signer(
        node.secret,
        salt=f"ironarm page {purpose}",
        key_derivation="hmac",
        digest_method=hashlib.sha256,
    )


def signature(node: Node, purpose: str, text: str) -> str:
    """Return what only a node can compute for a text."""
    return signer(node, purpose).get_signature(text).decode()


def cookie_name(node: Node, purpose: str) -> str:
    """Return the name of a cookie of this service: "session" or "form"."""
    return f"ironarm_{purpose}_{signature(node, 'cookie', '')[:12]}"


def begin(node: Node, request: Request, response: Response, key: Key) -> None:
    """Remember a key in the browser."""
    # the end, and not the beginning: another node's clock may not be there yet
    signed = signer(node, "session").sign(f"{key.id}.{int(time()) + LASTS}").decode()
    _set(request, response, cookie_name(node, "session"), signed)
    response.delete_cookie(cookie_name(node, "form"), path="/")


def end(node: Node, response: Response) -> None:
    """Forget the key."""
    response.delete_cookie(cookie_name(node, "session"), path="/")


def key_of(node: Node, request: Request) -> Key | None:
    """Return the key of a session; None if there is none that may read."""
    if not node.secret:
        return None
    try:
        front = signer(node, "session").unsign(_cookie(node, request, "session")).decode()
    except BadSignature:
        return None
    # what we have signed ourselves is an id and a number
    id, until = front.split(".")
    if int(until) < time():
        return None
    key = node.keys.get(id)
    return key if key is not None and key.may("read", None) else None


def _cookie(node: Node, request: Request, purpose: str) -> str:
    return request.cookies.get(cookie_name(node, purpose), "")


def token(node: Node, request: Request) -> str:
    """Return the token that a form of this session must carry."""
    return signature(node, "form", _cookie(node, request, "session"))


def token_is_ours(node: Node, request: Request, given: str) -> bool:
    """Say whether a form was made for this session."""
    return signer(node, "form").verify_signature(_cookie(node, request, "session"), given)


def new_form(node: Node, request: Request) -> tuple[str, str]:
    """Return a random text for a cookie, and the token for a form without a session."""
    nonce = _cookie(node, request, "form")
    if not 20 <= len(nonce) <= 64:
        nonce = secrets.token_urlsafe(24)
    return nonce, signature(node, "login", nonce)


def keep_form(node: Node, request: Request, response: Response, nonce: str) -> None:
    """Give the browser the text that belongs to a form's token."""
    _set(request, response, cookie_name(node, "form"), nonce)


def form_is_ours(node: Node, request: Request, given: str) -> bool:
    """Say whether a form without a session was made for this browser."""
    nonce = _cookie(node, request, "form")
    return bool(nonce) and signer(node, "login").verify_signature(nonce, given)


def _set(request: Request, response: Response, name: str, value: str) -> None:
    # a proxy that ends TLS says so; who lies about it harms only himself
    forwarded = request.headers.get("x-forwarded-proto", "").lower()
    response.set_cookie(
        name,
        value,
        max_age=LASTS,
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https" or forwarded == "https",
    )
