"""Tests of ironarm.estimators.

`bounded_median` is tested in `tests/agent`, `clipped_mean` and `sliding_mean` through
the policies on them, against their naive twins.
"""
