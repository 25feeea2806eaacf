"""`ironarm attacks`: which there are."""

from __future__ import annotations

from .. import attacks
from .listing import Listing

EXAMPLES = """\
examples:
  ironarm attacks                    all, with parameters and defaults
  ironarm attacks Mimic              its page
  ironarm attacks mine.py:MyAttack   the page of one of yours
"""

_EVERY = {name: getattr(attacks, name) for name in attacks.__all__}
_LISTING = Listing(attacks.ATTACK, EXAMPLES, _EVERY)
add, run = _LISTING.add, _LISTING.run
