"""Tests of ironarm.theory.

`ucb_parameters` is tested in test_theorems_ucb.py, `theorem_part` and `certificate` in
test_certification.py, `lemma_measured` in test_lemma_rows.py, `unmet` and `wording` by
their examples.
"""
