"""Some hundred hostile requests; `hostile.py` by itself sends 10^5 of them."""

import pytest

from tests.service import hostile
from tests.service.hostile_requests import KINDS


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return hostile.attack(tmp_path_factory.mktemp("hostile"), 600, 1, print)


def test_every_answer_is_a_right_one(report):
    """A refusal of the expected kind; never a 500, and never what was asked for."""
    assert report.outcome.ways_in == []
    assert {kind for kind, _ in report.outcome.counts} == {kind for kind, _, _ in KINDS}
    assert max(status for _, status in report.outcome.counts) < 500


def test_the_logs_are_as_before(report):
    """Entry by entry; and `attack` itself has shown that honest clients are served."""
    assert not report.logs_changed
    assert "Traceback" not in report.errors


def test_slow_senders_are_cut_off(report):
    """None holds its connection for much longer than it may."""
    assert len(report.outcome.slow) == 20
    assert min(report.outcome.slow) > hostile.READ_SECONDS * 0.8
    assert max(report.outcome.slow) < hostile.READ_SECONDS + 15  # on a busy machine


def test_a_way_in_would_be_noticed():
    """The judge says so if an answer is not among the right ones."""
    outcome = hostile.Outcome()
    attempt = hostile.Attempt(b"GET / HTTP/1.1", frozenset({401}))
    headers = {b"content-type": b"application/json", b"x-content-type-options": b"nosniff"}
    outcome.judge("x", attempt, 401, headers, b"{}")
    assert not outcome.ways_in
    outcome.judge("x", attempt, 200, headers, b"{}")
    outcome.judge("x", attempt, 500, headers, b"{}")
    outcome.judge("x", attempt, 401, {b"content-type": b"text/html"}, b"<p>")
    lines = hostile.Attempt(b"POST", frozenset({200}), lines=True)
    outcome.judge("x", lines, 200, headers, b'{"status": 422}\n{"status": 200}\n')
    outcome.judge("x", lines, 200, headers, b"")
    assert len(outcome.ways_in) == 5
    outcome.judge("x", lines, 200, headers, b'{"status": 422}\n')
    assert len(outcome.ways_in) == 5
