"""Tests of ironarm.lab.sweeps.

`own_processes` is tested in test_backends.py, `breakdown_figure` in
test_breakdown_map.py.
"""
