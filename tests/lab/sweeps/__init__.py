"""Tests of ironarm.lab.sweeps.

`joblib_parts` and `own_processes` are tested in test_backends.py, `breakdown_figure` in
test_breakdown_map.py.
"""
