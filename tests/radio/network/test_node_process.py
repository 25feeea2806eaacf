"""A node switches its device off when it is ended, and when the medium is silent.

It waits for a medium that has not started yet.
"""

import json
import select
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from ironarm.radio.network.messages import decoded, encoded, router
from ironarm.radio.network.processes import free_port

NODE = """
import json, signal, sys, time
from ironarm.radio.network import node_process
from ironarm.radio.testbed.config import RadioConfig

class Device:
    def __enter__(self):
        print("on", flush=True)
        return self
    def __exit__(self, *_):
        self.close()
    def close(self):
        print("closing", flush=True)
        time.sleep(0.2)
        print("off", flush=True)

if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whatever these tests were started under
signal.signal(signal.SIGINT, signal.default_int_handler)
node_process.check_devices, node_process.open_radio = lambda _: True, lambda *_: Device()
node_process.run_node("jammer", RadioConfig.of(json.loads(sys.argv[1])))
"""


@contextmanager
def node(port):
    """Start a node; it is gone afterwards, also when the test fails."""
    times = {"port": port, "lost_seconds": 0.4, "heartbeat_seconds": 0.1}
    content = json.dumps(
        {"round_seconds": 1.0, "processes": times, "hardware": {"gains_db": {"jammer": 0}}}
    )
    with subprocess.Popen(
        [sys.executable, "-c", NODE, content],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout.readline() == "on\n"
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT"])
def test_signals_switch_the_device_off(name):
    """Others that come meanwhile do not stop that.

    Before the medium is there the node waits, longer than the medium may be silent
    later.
    """
    number = getattr(signal, name, None)
    if number is None or sys.platform == "win32":
        pytest.skip(f"NOT TESTED: this system has no {name} that a process can catch")
    with node(free_port()) as process:
        assert select.select([process.stdout], [], [], 1.0)[0] == []  # not switched off yet
        process.send_signal(number)
        assert process.stdout.readline() == "closing\n"
        for other in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
            process.send_signal(other)
        out, errors = process.communicate(timeout=120)
    assert out.startswith("off\n")
    if number == signal.SIGINT:
        assert errors.endswith("\nKeyboardInterrupt\n")
    else:
        assert (process.returncode, errors) == (128 + number, "")


def test_a_node_whose_medium_falls_silent_says_so_and_ends():
    """The device is off before the process is."""
    port = free_port()
    medium = router(f"tcp://127.0.0.1:{port}")
    try:
        with node(port) as process:
            assert medium.poll(20_000)
            sender, *parts = medium.recv_multipart()
            assert (sender, decoded(parts).op) == (b"bench/jammer", "alive")
            medium.send_multipart([sender, *encoded({"op": "alive", "hub": "a"})])
            out, errors = process.communicate(timeout=120)
    finally:
        medium.close(0)
    assert out.startswith("closing\noff\n")
    assert (
        "jammer: the medium was silent for 0.4 s, so the device was switched off and the node ends"
        in errors
    )
    assert process.returncode != 0
