"""Tests of ironarm.lab; `kit` is tested through the studies and the arena."""
