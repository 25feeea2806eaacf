"""Observers get all rounds of a run, also those before they joined."""

import subprocess
import sys
import threading
from types import SimpleNamespace

from ironarm.radio.network.hub import Hub
from ironarm.radio.network.hub_client import HubClient
from ironarm.radio.network.messages import Message, encoded
from ironarm.radio.network.observer import observe, rounds_in
from ironarm.radio.network.processes import free_port
from ironarm.radio.testbed.config import RadioConfig
from ironarm.radio.testbed.records import Round, RunRecord


def test_two_observers_and_a_late_one_hear_all_rounds(tmp_path):
    """Two observers don't replace each other; `watch` shows and saves the rounds."""
    configured = RadioConfig.of(
        {"rounds": 3, "processes": {"port": free_port(), "noise_node": False}}
    )
    hub = threading.Thread(target=Hub(configured).serve)
    hub.start()
    config, saved = tmp_path / "bench.toml", tmp_path / "run.json"
    config.write_text(f"rounds = 3\n[processes]\nport = {configured.processes.port}\n")
    rx = HubClient(configured.processes, "rx")

    def keep(number):
        return rx.request(
            {"op": "record", "rounds": [Round(number, 0, 41.0, None, False, 41.0, 0.0)._asdict()]},
            seconds=20,
        )

    heard, came = {0: [], 1: []}, threading.Barrier(3)

    def watch(place):
        observe(
            configured.processes,
            on_round=lambda record: (
                heard[place].append(record.round),
                came.wait(20) if record.round == 0 else None,
            ),
        )

    others = [threading.Thread(target=watch, args=(place,)) for place in heard]
    for thread in others:
        thread.start()
    try:
        keep(0)
        came.wait(20)
        keep(1)
        command = [
            sys.executable,
            "-m",
            "ironarm",
            "radio",
            "watch",
            "--config",
            str(config),
            "--save",
            str(saved),
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as late:
            assert late.stderr.readline().startswith("round     1  1200.0 MHz   41.0 dB")
            keep(2)
            rx.tell({"op": "finish"})
            lines = late.communicate(timeout=120)[0].splitlines()
    finally:
        rx.tell({"op": "finish"})
        for thread in (hub, *others):
            thread.join(20)
        rx.close()
    assert heard == {0: [0, 1, 2], 1: [0, 1, 2]}
    assert lines[0].startswith(
        "3 rounds of MedEUCB(b=4.0, omega=4.0, block=200), jammer 'any' with rho = 0.125"
    )
    assert lines[-1] == f"wrote {saved}"
    assert [record.round for record in RunRecord.load(saved).rounds] == [0, 1, 2]


def test_a_round_that_comes_with_the_end_of_the_run_is_kept(monkeypatch):
    """Before, the last round was lost where both were read at once."""
    record = Round(0, 2, 35.0, None, False, 35.0, 6.0)
    sent = [
        encoded({"op": "rounds", "rounds": [record._asdict()]}),
        encoded({"op": "end", "reason": ""}),
    ]
    socket = SimpleNamespace(
        connect=lambda _: None,
        send_multipart=lambda _: None,
        poll=lambda _: len(sent),
        recv_multipart=lambda: sent.pop(0),
        close=lambda: None,
    )
    monkeypatch.setattr("ironarm.radio.network.hub_client.dealer", lambda _: socket)
    assert observe(RadioConfig().processes) == [record]


def test_the_observer_passes_over_what_it_does_not_know():
    """Unknown fields silently, records without sense with a sentence."""
    said = []
    good = {**Round(0, 2, 35.0, None, False, 35.0, 6.0)._asdict(), "colour": "red"}
    assert rounds_in(Message({"rounds": [good, {"round": 1}, 7]}, b""), said.append) == [
        Round(0, 2, 35.0, None, False, 35.0, 6.0)
    ]
    assert rounds_in(Message({}, b""), said.append) == []
    assert [" ".join(text.partition("of a round ")[2].split()[:3]) for text in said] == [
        "lacks channel, sinr_db,",
        "must have names",
        "must have names",
    ]
