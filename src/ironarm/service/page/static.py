"""The files of the page. Only what is listed here is ever sent.

Pages name them by an address with a hash of the content, so browsers may keep them.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

SCRIPT, STYLE, TEXT = "text/javascript", "text/css", "text/plain"
KNOWN = {
    "page.css": STYLE,
    "page.js": SCRIPT,
    "icon.svg": "image/svg+xml",
    "vendor/htmx.min.js": SCRIPT,
    "vendor/htmx.LICENSE.txt": TEXT,
    "vendor/uplot.min.js": SCRIPT,
    "vendor/uplot.min.css": STYLE,
    "vendor/uplot.LICENSE.txt": TEXT,
}


@cache
def content(name: str) -> bytes:
    """Return a known file."""
    assert name in KNOWN
    return files(__package__).joinpath("static", *name.split("/")).read_bytes()


@cache
def version(name: str) -> str:
    """Return a text that changes when the file does."""
    return hashlib.blake2b(content(name), digest_size=8).hexdigest()


def address(name: str) -> str:
    """Return where browsers find a file, as it is now."""
    return f"/static/{name}?v={version(name)}"
