"""The cognitive-radio testbed: the SINR of a packet is its channel's reward.

`bandit.py` has `ia.RadioBandit`, the testbed as a bandit. Nothing outside this package
imports it at the start; `ia.RadioBandit`, or a study that names it, loads it.

* `signal/`: the physical layer. `waveform` (the packet), `medium` (what is on the air),
  `receiver` (from samples to a report), `randomness` (numbers by key), `sinr_law`. The
  same chain compiled: `compiled_chain`, `kernels`, `receive_kernels`, `kernel_parts`.
* `testbed/`: the closed loop. `config` and `hardware_table` (the file), `nodes` and
  `rx_agent` (who takes part), `jamming` (which packets are hit), `ack`, `round_loop`,
  `closed_loop` (all in one process), `records`, `live_view`, `calibrate`,
  `wideband_rounds`, `recording`, `figures`.
* `network/`: each node a process. `hub` (the medium), `round_medium`, `hub_client`,
  `messages`, `node_process`, `processes` (starts them), `observer`.
* `backends/`: radios. `protocol` (what a node asks of a radio), `remote`, `soapy*`,
  `hardware`, `in_background`, `packet_search`, `device_bench`, and `safety`, which
  decides what may be transmitted.
* `virtual/`: virtual radios, for SoapySDR without hardware.

The way of one packet through `ironarm radio run` is in `testbed/closed_loop.py`, and
that through `ironarm radio run --processes` in `network/hub.py`.
"""
