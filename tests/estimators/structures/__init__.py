"""Tests of the structures; `pool`, `rank`, `window` and `sorted_looks` are tested
through the estimators on them, against sorted lists.
"""
