# SPDX-License-Identifier: GPL-3.0-or-later
"""UHD sends and receives through SoapySDR.

Usage: /usr/bin/python3 through_uhd.py TRANSMITTER RECEIVER FREQUENCY BURST HEARD COUNT

TRANSMITTER and RECEIVER are SoapySDR's arguments of two devices. The file BURST,
complex 32-bit floats, is sent COUNT times; what is heard is written to the file HEARD.

This script uses UHD, which is under the GPL; see README.md.
"""

import os
import sys

import numpy as np
import uhd

RATE = 1.25e6
PAUSE = 40_000
LATENESS = 1_000_000  # on a busy machine the last burst is heard late


def main():
    transmitter, receiver = (
        uhd.usrp.MultiUSRP(f"type=soapy,{arguments}") for arguments in sys.argv[1:3]
    )
    frequency, burst, count = (
        float(sys.argv[3]),
        np.fromfile(sys.argv[4], np.complex64),
        int(sys.argv[6]),
    )
    transmitter.set_tx_rate(RATE)
    transmitter.set_tx_freq(uhd.types.TuneRequest(frequency))
    receiver.set_rx_rate(RATE)
    receiver.set_rx_freq(uhd.types.TuneRequest(frequency))
    assert (receiver.get_rx_rate(), receiver.get_rx_freq(), transmitter.get_tx_freq()) == (
        RATE,
        frequency,
        frequency,
    )
    wanted = uhd.usrp.StreamArgs("fc32", "fc32")
    wanted.channels = [0]
    sending, receiving = transmitter.get_tx_stream(wanted), receiver.get_rx_stream(wanted)
    start = uhd.types.StreamCMD(uhd.types.StreamMode.start_cont)
    start.stream_now = True
    receiving.issue_stream_cmd(start)
    heard = [read(receiving, PAUSE)]
    whole = uhd.types.TXMetadata()
    whole.start_of_burst = whole.end_of_burst = True
    whole.has_time_spec = False
    for _ in range(count):
        assert sending.send(burst.reshape(1, -1), whole, 1.0) == len(burst)
        heard.append(read(receiving, PAUSE))
    heard.append(read(receiving, LATENESS))
    receiving.issue_stream_cmd(uhd.types.StreamCMD(uhd.types.StreamMode.stop_cont))
    np.concatenate(heard).tofile(sys.argv[5])
    os._exit(0)  # UHD 4.3 crashes when its streams are taken down


def read(stream, count):
    buffer, about, parts, done = np.zeros((1, 1024), np.complex64), uhd.types.RXMetadata(), [], 0
    while done < count:
        got = stream.recv(buffer, about, 0.01)
        parts.append(buffer[0, :got].copy())
        done += got
    return np.concatenate(parts)


main()
