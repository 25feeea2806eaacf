"""Tests of ironarm.sweeps; `joblib_parts` and `own_processes` in test_backends.py."""
