"""Faults in small; `faults.py` runs them at full size."""

import socket
import sys
import threading

import pytest

from .database import programs
from .faults import database_restarted, kill_again_and_again, nodes_lost
from .running import ask

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
needs_postgres = pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")


def test_half_an_answer_is_a_broken_connection():
    """A node that is killed while it answers leaves its head and no body."""

    def cut_short(server):
        peer, _ = server.accept()
        with peer:
            peer.recv(65_536)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 58\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=cut_short, args=(server,))
        thread.start()
        with pytest.raises(ConnectionError, match="half an answer"):
            ask(server.getsockname()[1], "GET", "/readyz")
        thread.join()


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
