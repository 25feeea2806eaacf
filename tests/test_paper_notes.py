"""The notes on the paper name files of ours; they are there."""

import re
from pathlib import Path

HOME = Path(__file__).parents[1]


def test_every_file_that_the_notes_name_is_there():
    """A note that points to nowhere is stale."""
    notes = (HOME / "docs" / "paper-notes.md").read_text()
    named = set(re.findall(r"`([a-z_/]+(?:\.py|/))`", notes))
    assert len(named) > 20
    missing = {name for name in named if not (HOME / "src" / "ironarm" / name).exists()}
    assert missing == set()
    assert not re.findall(r"`[a-z_]+\.py`", notes), "name the folder, too"
