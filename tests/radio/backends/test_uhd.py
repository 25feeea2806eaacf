"""UHD, the driver of USRPs, sends and receives our packets through SoapySDR.

It runs in a process of the system's Python, on the virtual radio.
"""

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from ironarm.radio.signal.medium import Medium
from ironarm.radio.signal.receiver import Receiver
from ironarm.radio.signal.waveform import STANDARD, modulate
from ironarm.radio.virtual.server import VirtualRadio
from ironarm.radio.virtual.streaming_medium import FULL_SCALE
from tests.radio.signal.test_gnuradio import SYSTEM_PYTHON, system_python

from .soapy_required import require_soapy

require_soapy()

SCRIPT = Path(__file__).parents[1] / "signal" / "gnuradio" / "through_uhd.py"
BURSTS = 4


def test_uhd_sends_and_receives_our_packets(tmp_path):
    """Every burst arrives with its number, within 1.5 dB of the channel's 28 dB.

    That is 6 standard deviations.
    """
    if (
        not Path(SYSTEM_PYTHON).exists()
        or system_python("-c", "import uhd; uhd.usrp.MultiUSRP").returncode
        or not list(Path("/usr/lib").glob("*/uhd/modules/*oapy*"))
    ):
        pytest.skip(
            "NOT TESTED: UHD is not installed; apt-get install --no-install-recommends "
            "python3-uhd uhd-soapysdr (as root)"
        )
    (modulate(STANDARD.symbols(12), 3) / FULL_SCALE).astype(np.complex64).tofile(tmp_path / "burst")
    with VirtualRadio(Medium(noise=[10**-2.8] * 5)) as virtual:
        devices = [
            ",".join(f"{key}={value}" for key, value in virtual.arguments(device).items())
            for device in ("transmitter", "receiver")
        ]
        done = system_python(
            str(SCRIPT),
            *devices,
            "20e6",
            str(tmp_path / "burst"),
            str(tmp_path / "heard"),
            str(BURSTS),
        )
    assert done.returncode == 0, done.stderr
    heard = np.fromfile(tmp_path / "heard", np.complex64)
    reports = [
        Receiver(sps=3).receive(heard[begin : begin + 2600]) for begin in range(0, len(heard), 1250)
    ]
    # windows overlap: a packet may be in two, and cut short in one of them
    found = [
        max(same, key=lambda report: report.sinr_db)
        for detected, group in groupby(reports, lambda report: report.detected)
        if detected
        for same in [list(group)]
    ]
    assert [(report.round, report.crc_ok) for report in found] == [(12, True)] * BURSTS
    assert [report.sinr_db for report in found] == pytest.approx([28] * BURSTS, abs=1.5)
