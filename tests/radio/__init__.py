"""Tests of the radio testbed; folders and files mirror `src/ironarm/radio`.

Some modules have no file of their own:

* `signal/randomness` and all `kernel` modules: `signal/test_compiled_chain.py`;
* `testbed/hardware_table`: `testbed/test_config.py`;
* `testbed/round_loop` and `records`: `testbed/test_closed_loop.py`;
* `testbed/rx_agent`: `testbed/test_nodes.py`;
* `testbed/wideband_rounds`: `testbed/test_recording.py` and `test_figures.py`;
* `testbed/live_view`: `tests/commands/test_radio.py`;
* `network/hub_client` and `messages`: `network/test_hub.py` and `test_processes.py`;
* `backends/remote`: `network/test_processes.py`;
* `backends/device_bench`: `backends/test_hardware.py`;
* `virtual/streaming_medium` and `device`: `virtual/test_server.py`.
"""
