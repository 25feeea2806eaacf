"""Tests of ironarm.estimators; `bounded_median` is tested in `tests/agent`."""
