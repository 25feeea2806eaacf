# SPDX-License-Identifier: GPL-3.0-or-later
"""GNU Radio's own blocks receive QPSK.

Usage: /usr/bin/python3 receive.py SAMPLES SYMBOLS SPS ROLL_OFF

SAMPLES is a file of complex 32-bit floats; the symbols that GNU Radio finds are written
to the file SYMBOLS, and what it measures on their second half is printed as JSON.

This script uses GNU Radio, which is under the GPL; see README.md. It is a program of
its own: nothing of ironarm is imported here, and ironarm does not import it.
"""

import json
import math
import sys

import numpy as np
from gnuradio import blocks, digital, gr
from gnuradio.filter import firdes

FILTERS = 64
HALF_SPAN = 24


def main():
    samples, symbols, sps, roll_off = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    taps = firdes.root_raised_cosine(
        FILTERS, FILTERS * sps, 1.0, roll_off, 2 * HALF_SPAN * sps * FILTERS + 1
    )
    points = digital.constellation_qpsk().base()
    timing = digital.symbol_sync_cc(
        digital.TED_SIGNAL_TIMES_SLOPE_ML,
        sps,
        0.01,
        1.0,
        1.0,
        1.5,
        1,
        points,
        digital.IR_PFB_MF,
        FILTERS,
        taps,
    )
    carrier = digital.costas_loop_cc(0.005, 4, False)
    estimate = digital.mpsk_snr_est_cc(digital.SNR_EST_M2M4, 10000, 0.0005)
    found = blocks.vector_sink_c()
    top = gr.top_block()
    top.connect(blocks.file_source(gr.sizeof_gr_complex, samples, False), timing, carrier, found)
    top.connect(carrier, estimate, blocks.null_sink(gr.sizeof_gr_complex))
    top.run()
    values = np.array(found.data(), np.complex64)
    values.tofile(symbols)
    half = values[len(values) // 2 :]
    # the meter's constellation has points of magnitude 2 (gnuradio issue 2764)
    half = 2 * half / np.sqrt(np.mean(np.abs(half) ** 2))
    meter, percent = (
        digital.meas_evm_cc(points, digital.evm_measurement_t.EVM_PERCENT),
        blocks.vector_sink_f(),
    )
    second = gr.top_block()
    second.connect(blocks.vector_source_c(half.tolist()), meter, percent)
    second.run()
    evm = math.sqrt(float(np.mean(np.square(percent.data())))) / 100
    print(
        json.dumps(
            {
                "version": gr.version(),
                "count": len(values),
                "m2m4_db": estimate.snr(),
                "evm_db": -20 * math.log10(evm),
            }
        )
    )


main()
