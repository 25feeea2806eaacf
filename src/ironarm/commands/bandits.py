"""`ironarm bandits`: which there are."""

from __future__ import annotations

from .. import bandits
from .listing import Listing

EXAMPLES = """\
examples:
  ironarm bandits                    all, with parameters and defaults
  ironarm bandits GaussianBandit     its page
  ironarm bandits mine.py:MyBandit   the page of one of yours
"""

_KIND = bandits.with_radio()
_CLASSES = {name: made for name, made in _KIND.table.items() if isinstance(made, type)}
_LISTING = Listing(_KIND, EXAMPLES, _CLASSES)
add, run = _LISTING.add, _LISTING.run
