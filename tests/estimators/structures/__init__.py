"""Tests of the structures; `pool`, `rank`, `window`, `sorted_looks`, `order_tree`
and `ring` are tested through the estimators on them, against sorted lists.
"""
