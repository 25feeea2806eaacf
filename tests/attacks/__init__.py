"""Tests of ironarm.attacks.

The simple ones are in `test_attacks.py`, those that aim at an arm in `test_aimed.py`,
what an attack that observes is told in `test_observing.py`;
`jammer` is tested with the radio, in `tests/radio/test_bandit.py`.
"""
