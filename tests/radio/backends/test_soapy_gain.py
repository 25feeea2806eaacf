"""The gain of a device; a stand-in for SoapySDR has one, the virtual radio has not."""

from types import SimpleNamespace

import numpy as np
import pytest

from ironarm.errors import InvalidInput
from ironarm.radio.backends import soapy as module
from ironarm.radio.backends.hardware import open_radio
from ironarm.radio.testbed.config import RadioConfig

from .soapy_stand_in import opened, stand_in


@pytest.fixture
def device(monkeypatch):
    return stand_in(monkeypatch)


@pytest.mark.parametrize("digital", [False, True])
def test_a_transmitter_starts_at_its_least_gain(device, digital):
    """However it was left, and also where what is sent is scaled."""
    with opened(digital_gain=digital) as radio:
        assert radio._device.gain == 0


def test_the_devices_own_gain_is_held_against_the_cap_with_digital_gain(device):
    """When it is opened, and before each burst."""
    with opened(digital_gain=True, gain_db=-6) as radio:
        radio.transmit(np.ones(10))
        assert (radio._device.sent, radio.info().gain_db) == (10, -6)
        radio._device.gain = 20.0
        with pytest.raises(InvalidInput, match="gain of 20 dB is above the configured cap, 10 dB"):
            radio.transmit(np.ones(10))
        assert radio._device.sent == 10
    device.least = 12.0
    with pytest.raises(InvalidInput, match="gain of 12 dB is above"):
        opened(digital_gain=True)


def test_a_device_without_a_gain_transmits_only_with_a_digital_one(device, monkeypatch):
    """Else nothing would keep the cap.

    A digital gain that is not named is 0 dB, which the cap must allow when the device
    is opened.
    """
    monkeypatch.setattr(device, "listGains", lambda *_: [])
    table = {
        "bands_mhz": [[1198, 1204]],
        "max_gain_db": -60,
        "setup": "conducted",
        "devices": {"jammer": "a", "rx": "b"},
    }
    with pytest.raises(
        InvalidInput,
        match=(
            "the jammer's device has no gain that can be set, so max_gain_db cannot be kept; set "
            "digital_gain = true"
        ),
    ):
        open_radio(RadioConfig.of({"hardware": table}), "jammer", "conducted")
    with pytest.raises(
        InvalidInput, match=r"has no gain that can be set; set digital_gain = true\."
    ):
        opened(gain_db=0)
    with pytest.raises(InvalidInput, match="gain of 0 dB is above the configured cap, -60 dB"):
        opened(cap_db=-60, digital_gain=True)
    with open_radio(RadioConfig.of({"hardware": table}), "rx", None) as receiver:
        assert receiver.info().gain_db is None
    with opened(digital_gain=True) as radio:
        radio._digital_db = None  # as if it were lost later
        with pytest.raises(InvalidInput, match="max_gain_db cannot be kept"):
            radio.transmit(np.ones(10))
        assert radio._device.sent == 0


def test_the_default_digital_gain_is_held_against_the_cap_before_the_device_is_touched(
    device, monkeypatch
):
    """It is 0 dB."""
    monkeypatch.setattr(module, "soapy", None)
    table = {
        "bands_mhz": [[1198, 1204]],
        "max_gain_db": -60,
        "setup": "conducted",
        "digital_gain": True,
        "devices": {"tx": "a"},
    }
    with pytest.raises(InvalidInput, match="gain of 0 dB is above the configured cap, -60 dB"):
        open_radio(RadioConfig.of({"hardware": table}), "tx", "conducted")


def test_a_gain_that_the_device_rounds_up_beyond_the_cap_is_refused(device):
    """It reads back what it set."""
    device.step = 0.5
    with pytest.raises(InvalidInput, match=r"gain of 10\.5 dB is above"):
        opened(gain_db=10)


def test_digital_gain_is_true_or_false():
    """The text "false" is true to Python."""
    table = {
        "bands_mhz": [[1199.5, 1202.5]],
        "max_gain_db": 0,
        "setup": "conducted",
        "digital_gain": "false",
        "devices": {"tx": "a", "rx": "b", "jammer": "c", "noise": "d"},
    }
    with pytest.raises(
        InvalidInput, match=r"digital_gain in .hardware. must be true or false, got 'false'"
    ):
        open_radio(RadioConfig.of({"hardware": table}), "tx", "conducted")


def test_a_device_behind_a_transverter_says_where_it_is_itself(device, capsys):
    """The device's own frequency must be allowed too.

    Only the operator knows whether there is a transverter.
    """
    table = {
        "bands_mhz": [[1198, 1204], [19, 23]],
        "max_gain_db": 0,
        "setup": "conducted",
        "frequency_translation_hz": -1180e6,
        "devices": {"tx": "a"},
    }
    with open_radio(RadioConfig.of({"hardware": table}), "tx", "conducted") as radio:
        assert radio.radio._device.frequency == 21e6
    assert (
        "tx: for 1201 MHz on the air the device itself is tuned to 21 MHz"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("role", ["tx", "rx"])
def test_every_channel_must_be_within_the_devices_range(device, monkeypatch, role):
    """Before anything is sent, not when the policy comes to the channel."""
    monkeypatch.setattr(
        device,
        "getFrequencyRange",
        lambda *_: [SimpleNamespace(minimum=lambda: 1e6, maximum=lambda: 21.6e6)],
    )
    table = {
        "bands_mhz": [[1198, 1204], [19, 23]],
        "max_gain_db": 0,
        "setup": "conducted",
        "frequency_translation_hz": -1180e6,
        "devices": {role: "a"},
    }
    with pytest.raises(
        InvalidInput,
        match=(
            r"cannot receive at 22 MHz \(1202 MHz on the air, frequency_translation_hz = "
            r"-1.18e\+09\); it can do 1 to 21.6 MHz"
        ),
    ):
        open_radio(RadioConfig.of({"hardware": table}), role, "conducted")


def test_licensed_needs_channels_outside_of_the_reserved_band(device):
    """A translation does not help there; a base frequency does."""
    table = {
        "bands_mhz": [[430, 440]],
        "max_gain_db": 0,
        "setup": "licensed",
        "devices": {"tx": "a"},
    }
    with pytest.raises(InvalidInput, match="outside of the configured bands"):
        open_radio(
            RadioConfig.of({"hardware": {**table, "frequency_translation_hz": -766e6}}),
            "tx",
            "licensed",
        )
    with open_radio(
        RadioConfig.of({"hardware": table, "channels": {"base_mhz": 433}}), "tx", "licensed"
    ) as radio:
        assert radio.info().frequency_hz == 434e6
