"""Tests of ironarm.bandits: all laws are in `test_bandits.py`."""
