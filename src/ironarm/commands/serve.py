"""`ironarm serve`: agents behind HTTP."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, missing_extra
from .common import describe

PORT = 8321
EXAMPLES = """\
examples:
  ironarm serve --data agents                      on this machine only, agents in a folder
  ironarm keys add web --scope decide --scope reward --data agents
  ironarm serve --data agents --host 0.0.0.0       for others too; needs a key
  ironarm serve --database postgresql://user@host/ironarm --port 8001
                                                   one node of several on one database

The page is at http://127.0.0.1:8321/, the description of the API at /openapi.json.
Ctrl-C or SIGTERM ends it; everything it has confirmed is on disk.
"""


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add where the agents are kept."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--data", type=Path, metavar="DIR", help="the folder of the agents")
    where.add_argument(
        "--database", metavar="URL", help="a PostgreSQL database, as postgresql://user@host/name"
    )


def place_of(options: argparse.Namespace) -> Any:
    """Return the place that the options name."""
    from ..service.location import StoreLocation

    return StoreLocation(options.data, options.database)


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    describe(
        parser,
        "Serve durable agents over HTTP, with a page. What it confirms is already on disk.",
        EXAMPLES,
    )
    add_place(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument(
        "--port", type=int, default=PORT, help=f"port ({PORT}); 0 for any that is free"
    )
    parser.add_argument(
        "--max-arms", type=int, default=1000, metavar="N", help="arms of an agent (1000)"
    )
    parser.add_argument(
        "--source-rate",
        type=float,
        metavar="R",
        help="rewards a second from one source; more are refused (default: no limit)",
    )


def run(options: argparse.Namespace) -> int:
    """Serve until a signal comes."""
    place = place_of(options)
    if not 0 <= options.port < 65_536:
        raise InvalidInput(f"--port must be between 0 and 65535, got {options.port}.")
    if options.max_arms < 1:
        raise InvalidInput(f"--max-arms must be at least 1, got {options.max_arms}.")
    if options.source_rate is not None and not 0 < options.source_rate < 1e9:
        raise InvalidInput(f"--source-rate must be above 0, got {options.source_rate:g}.")
    try:
        from ..service.node import Limits
        from ..service.server import serve
    except ModuleNotFoundError:
        raise missing_extra("ironarm serve", "serve") from None
    limits = Limits(arms=options.max_arms, source_rate=options.source_rate)
    serve(place, options.host, options.port, limits, lambda text: print(text, flush=True))
    return 0
