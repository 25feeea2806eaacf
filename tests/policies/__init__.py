"""Tests of ironarm.policies.

Every policy is compared with its naive twin in `test_against_naive.py`, and with
published numbers in `test_reference_numbers.py`. A file of its own is for what is
special to one policy.
"""
