"""`ironarm policies`: which there are, and which to use."""

from __future__ import annotations

from ..policies import POLICY
from .listing import Listing

EXAMPLES = """\
examples:
  ironarm policies                    all: parameters, defaults, what you must know
  ironarm policies MedEUCB            its page: rule, parameters, when not to use it
  ironarm policies mine.py            those that your file defines
  ironarm policies mine.py:MyPolicy   the page of one of them
  ironarm policies --json
"""


def _advice() -> str:
    from .. import which_policy

    return f"\nWhich policy?\n\n{which_policy.as_text()}"


_LISTING = Listing(POLICY, EXAMPLES, after=_advice, needs=True)
add, run = _LISTING.add, _LISTING.run
