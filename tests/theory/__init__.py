"""Tests of ironarm.theory.

`ucb_parameters` is tested in test_theorems_ucb.py, `theorem_part` and `certificate` in
test_certify.py, `lemma_measured` in test_lemma_table.py, `unmet` and `wording` by their
examples.
"""
