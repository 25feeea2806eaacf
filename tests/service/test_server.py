"""Requests as bytes on a socket: many in one segment, and heads that are too long."""

import socket

import pytest

import ironarm as ia
from ironarm.service.server import HEAD, PIECE

from .running import ask
from .serving import serving


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("service")) as running:
        with ia.Client(running.url) as client:
            client.create("ads", ia.RUCB(), arms=["red", "green"], seed=1)
        yield running
        assert "Traceback" not in running.errors.read_text()


def answers(service, sent, most):
    """Send bytes in one write; return the first bytes that come back, to the end."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=120) as line:
        line.sendall(sent)
        found = b""
        while found.count(b"HTTP/1.1 ") < most or not found.endswith(b"}"):
            try:
                more = line.recv(1 << 16)
            except ConnectionResetError:
                break
            if not more:
                break
            found += more
    return found


def head(more=0):
    """Return the head of a decision's request, with so many bytes in a header."""
    filler = b"x: %b\r\n" % (b"y" * more) if more else b""
    return b"POST /v1/agents/ads/decisions HTTP/1.1\r\nhost: localhost\r\n" + filler + b"\r\n"


def test_thousands_of_requests_in_one_segment_are_answered(service):
    """Each is made once; the length of all heads together is no head's length."""
    before = ask(service.port, "GET", "/v1/agents/ads")[1]["decisions"]
    found = answers(service, head(100) * 2000, 2000)
    assert found.count(b"HTTP/1.1 201 ") == 2000
    assert ask(service.port, "GET", "/v1/agents/ads")[1]["decisions"] == before + 2000


@pytest.mark.parametrize("before", [b"", head()], ids=["first", "pipelined"])
def test_a_head_that_is_too_long_is_refused_however_it_is_cut(service, before):
    """Also when all of it comes at once, and is complete."""
    asked = bool(before)
    decided = ask(service.port, "GET", "/v1/agents/ads")[1]["decisions"]
    for size in (HEAD + 2 * PIECE, 120_000, 1_000_000):
        found = answers(service, before + head(size), 1 + asked)
        assert found.count(b"HTTP/1.1 201 ") <= asked
    assert ask(service.port, "GET", "/v1/agents/ads")[1]["decisions"] <= decided + 3 * asked
    assert answers(service, head(HEAD - 2 * PIECE), 1).startswith(b"HTTP/1.1 201 ")


def test_what_comes_after_a_body_is_no_header(service):
    """A proxy that looks at the head has seen all there is."""
    asked = head()[:-2] + b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    sent = asked + b"2\r\n{}\r\n0\r\nidempotency-key: same\r\n\r\n"
    found = [answers(service, sent, 1) for _ in range(2)]
    assert all(answer.startswith(b"HTTP/1.1 201 ") for answer in found)
    assert found[0].rpartition(b"\r\n")[2] != found[1].rpartition(b"\r\n")[2]
