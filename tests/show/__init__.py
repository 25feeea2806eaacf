"""Tests of ironarm.show; `curves` is tested in `tests/simulation/test_plot.py`."""
