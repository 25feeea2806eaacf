"""Faults in small; `faults.py` runs them at full size."""

import sys

import pytest

from .database import programs
from .faults import database_restarted, kill_again_and_again, nodes_lost

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
needs_postgres = pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")


def test_killed_without_warning_nothing_is_lost(tmp_path):
    """Three times, under four clients that send every reward twice."""
    found = kill_again_and_again(tmp_path, rounds=3, count=4, seconds=0.5)
    assert found["rewards acknowledged"] > 0


@needs_postgres
def test_of_three_nodes_one_is_killed_and_one_cut_off():
    """The third answers on, and all three come to the same state."""
    found = nodes_lost(seconds=4, count=4)
    assert found["rewards acknowledged"] > 0


@needs_postgres
def test_a_database_that_restarts_is_waited_for():
    """Requests get 503 meanwhile, and nothing is lost."""
    found = database_restarted(rounds=2, count=4, seconds=0.5)
    assert found["refused with 503"] > 0
