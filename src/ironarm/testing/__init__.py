"""Contracts as tests, for ours and for yours.

    from ironarm.testing import check_policy
    check_policy(MyPolicy())        # silent, or a PolicyFault with one sentence

`check_agent` does the same for live agents, `check_store` for stores of logs.
"""

from .agent import check_agent
from .policy import check_policy
from .store import check_store

__all__ = ["check_agent", "check_policy", "check_store"]
