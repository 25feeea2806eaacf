"""Nothing transmits on hardware without permission, and everything is switched off.

Permission needs bands, a gain cap, the set-up and an acknowledgement.
"""

import math
import time

import numpy as np
import pytest

from ironarm.errors import InvalidInput
from ironarm.radio.backends.safety import GuardedRadio, TransmitRules, Watchdog
from ironarm.radio.network.round_medium import RoundMedium
from ironarm.radio.signal.medium import Medium

from ..simulated_radio import SimulatedRadio

TABLE = {"bands_mhz": [[1199.5, 1201.8], [20, 30]], "max_gain_db": 30, "setup": "conducted"}
BURST = np.ones(8, complex)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, "needs bands_mhz in the table [hardware]"),
        ({"bands_mhz": ...}, "needs bands_mhz"),
        ({"max_gain_db": ...}, "needs max_gain_db"),
        ({"setup": ...}, "needs setup"),
        ({"setup": ..., "setups": "conducted"}, "Did you mean 'setup' by 'setups'"),
        ({"bands_mhz": []}, "the band list is empty"),
        ({"bands_mhz": 1200}, "the band list is empty"),
        ({"bands_mhz": [1200, 1202]}, "must be a pair"),
        ({"bands_mhz": [[1202, 1200]]}, "must be [lowest, highest]"),
        ({"bands_mhz": [["a", 1200]]}, "must be a number"),
        ({"max_gain_db": "lots"}, "max_gain_db must be a number"),
        ({"setup": "outdoors"}, "setup must be one of 'conducted', 'shielded', 'licensed'"),
        ({"setup": "licensed"}, "reserved worldwide for aeronautical radionavigation"),
    ],
)
def test_incomplete_rules_are_refused(change, message):
    """The error names what is missing or wrong, and what to write.

    At 1200 MHz nothing may go on the air, with or without a licence.
    """
    table = (
        None
        if change is None
        else {key: value for key, value in {**TABLE, **change}.items() if value is not ...}
    )
    with pytest.raises(InvalidInput) as error:
        TransmitRules.from_table(table)
    assert message in str(error.value)


def test_other_bands_may_be_licensed():
    """Beside the reserved band."""
    assert TransmitRules.from_table(
        {**TABLE, "bands_mhz": [[433, 434]], "setup": "licensed"}
    ).permit("licensed").rules.bands_hz == ((433e6, 434e6),)


@pytest.mark.parametrize("node", ["transmitter", "jammer", "noise source"])
@pytest.mark.parametrize(
    ("said", "message"),
    [
        (None, "add --acknowledge-transmitting conducted"),
        ("shielded", "says 'shielded', but the configuration says setup = 'conducted'"),
    ],
)
def test_without_the_right_acknowledgement_no_permit(node, said, message):
    """For every node that transmits."""
    with pytest.raises(InvalidInput) as error:
        TransmitRules.from_table(TABLE).permit(said, node)
    assert message in str(error.value)


def radio(permit=...):
    medium = RoundMedium(Medium(noise=[1e-3] * 5))
    return medium, GuardedRadio(
        SimulatedRadio(medium),
        TransmitRules.from_table(TABLE).permit("conducted") if permit is ... else permit,
    )


def test_a_guarded_radio_stays_within_its_permit():
    """A frequency outside the band and a gain above the cap are refused and not set."""
    medium, guarded = radio()
    guarded.tune(1201.5e6)
    guarded.set_gain(30)
    guarded.transmit(BURST)
    assert len(medium.emissions) == 1
    with pytest.raises(
        InvalidInput,
        match=(
            r"from 1201.75 to 1202.25 MHz, outside of the configured bands \(1199.5 to 1201.8 "
            r"MHz, 20 to 30 MHz\)"
        ),
    ):
        guarded.tune(1202e6)
    with pytest.raises(InvalidInput, match=r"gain of 30\.5 dB is above the configured cap, 30 dB"):
        guarded.set_gain(30.5)
    assert (guarded.info().frequency_hz, guarded.info().gain_db) == (1201.5e6, 30)


def test_what_the_device_says_counts():
    """A device that was set behind the guard's back is not let to transmit."""
    medium, guarded = radio()
    guarded.radio.tune(1202e6)
    with pytest.raises(InvalidInput, match="outside"):
        guarded.transmit(BURST)
    guarded.tune(1201e6)
    for gain, message in (
        (31, "cap"),
        (math.nan, "cap"),
        (None, "the transmitter's device has no gain that can be set"),
    ):
        guarded.radio.gain_db = gain
        with pytest.raises(InvalidInput, match=message):
            guarded.transmit(BURST)
    assert medium.emissions == []


def test_no_permit_no_transmission():
    """But receiving is free, on any frequency."""
    medium, guarded = radio(None)
    guarded.tune(1202e6)
    assert len(guarded.receive(10)) == 10
    with pytest.raises(InvalidInput, match="without a permit"):
        guarded.transmit(BURST)
    assert medium.emissions == []


def test_closing_takes_the_signal_off_the_air_for_good():
    """Also when the block ends by an exception."""
    medium, guarded = radio()
    guarded.tune(1201e6)
    guarded.transmit(BURST)
    with pytest.raises(RuntimeError), guarded:
        raise RuntimeError
    assert medium.emissions == []
    with pytest.raises(InvalidInput, match="switched off"):
        guarded.transmit(BURST)


def test_a_lost_heartbeat_switches_off():
    """Once, from another thread, while the node hangs; a fed watchdog does nothing."""
    medium, guarded = radio()
    calls = []
    with Watchdog(0.2, lambda: (calls.append(1), guarded.close())) as watchdog:
        guarded.tune(1201e6)
        guarded.transmit(BURST)
        for _ in range(6):
            time.sleep(0.05)
            watchdog.feed()
        assert (calls, len(medium.emissions)) == ([], 1)
        time.sleep(0.5)
        assert (calls, medium.emissions, watchdog.starved) == ([1], [], True)
    assert calls == [1]


def test_an_exception_switches_off():
    """The watchdog's block, left by any way, switches off."""
    calls = []
    with pytest.raises(KeyboardInterrupt), Watchdog(60, lambda: calls.append(1)):
        raise KeyboardInterrupt
    assert calls == [1]
