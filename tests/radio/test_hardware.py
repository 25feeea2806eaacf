"""The nodes as processes, each with a device of SoapySDR, with the virtual radio where the hardware would be."""

import pytest

from ironarm.errors import InvalidInput, NodeLost
from ironarm.radio.backends.hardware import jammer_gains
from ironarm.radio.medium import Medium
from ironarm.radio.processes import run_processes
from ironarm.radio.settings import Settings

MEANS, JAMMED = (41, 37, 35, 31, 28), (10, 8.75, 7.5, 6.25, 5)
TABLE = {
    "bands_mhz": [[1199.5, 1202.5]],
    "max_gain_db": 0,
    "setup": "conducted",
    "frequency_translation_hz": -1180e6,
    "digital_gain": True,
    "gains_db": {"jammer": [-sinr for sinr in JAMMED]},
}


def settings(devices):
    times = {"port": 0, "ack_port": 0, "noise_node": False, "lost_seconds": 5.0, "return_seconds": 5.0}
    trace = {"agent": {"policy": "MedEUCB(block=90)"}, "jammer": {"rho": 0.4}, "ack": {"timeout_seconds": 2.0}}
    return Settings.of({"rounds": 12, "round_seconds": 0.8, "seed": 2, **trace, "processes": times, "hardware": {**TABLE, "devices": devices}})


def test_the_jammers_gains_are_one_or_five():
    """Anything else is refused."""
    assert jammer_gains(settings({}), None) == [-10, -8.75, -7.5, -6.25, -5]
    assert jammer_gains(Settings.of({"hardware": {"gains_db": {"jammer": 3}}}), None) == [3.0] * 5
    with pytest.raises(InvalidInput, match="one for each of the 5 channels"):
        jammer_gains(Settings.of({"hardware": {"gains_db": {"jammer": [1, 2]}}}), None)


def test_a_run_over_soapysdr():
    """Refused without the acknowledgement; with it every packet arrives, at the SINR of its channel, or at that of a jammed one."""
    radios = pytest.importorskip("ironarm.radio.virtual")
    pytest.importorskip("tests.radio.soapy_required").require_soapy()
    medium = Medium(noise=[10 ** (-sinr / 10) for sinr in MEANS], seed=1)
    with radios.VirtualRadio(medium, ["transmitter", "jammer", "receiver"]) as virtual:
        names = {"tx": "transmitter", "jammer": "jammer", "rx": "receiver"}
        devices = {role: ",".join(f"{key}={value}" for key, value in virtual.arguments(name).items()) for role, name in names.items()}
        with pytest.raises(NodeLost, match=r"did not start: ironarm: the (transmitter|jammer) transmits on hardware, which must be acknowledged"):
            run_processes(settings(devices), say=lambda _: None)
        result = run_processes(settings(devices), say=lambda _: None, acknowledged="conducted")
    assert [record.round for record in result.rounds] == list(range(12))
    assert {record.missed for record in result.rounds} == {False}
    assert {record.jammed for record in result.rounds} == {False, True}
    for record in result.rounds:  # no wander, so 0.25 to 0.3 dB for each measurement
        assert record.sinr_db == pytest.approx((JAMMED if record.jammed else MEANS)[record.channel], abs=1.5)
