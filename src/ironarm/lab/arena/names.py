"""The arena files that come with ironarm, by name."""

from __future__ import annotations

from pathlib import Path

from ...errors import InvalidInput
from ...validation import did_you_mean

HOME = Path(__file__).parent


def shipped() -> dict[str, Path]:
    """Return the arena files that come with ironarm.

    >>> "arena" in shipped()
    True
    """
    return {path.stem: path for path in sorted(HOME.glob("*.toml"))}


def arena_file(where: str | Path | None) -> Path:
    """Return the file of one of ironarm's arenas by its name, or a user's own.

    >>> arena_file(None).name
    'arena.toml'
    """
    if where is None:
        return shipped()["arena"]
    path = shipped().get(str(where), Path(where))
    if not path.exists():
        raise InvalidInput(
            f"there is no arena file {where}; expected a path, or one of "
            f"{', '.join(shipped())}.{did_you_mean(where, shipped())}"
        )
    return path
