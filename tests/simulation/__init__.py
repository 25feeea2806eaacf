"""Tests of ironarm.simulation.

`trial` and `progress` are tested in `test_simulate.py`, `summary` and `plot` in
`test_result.py`, `fingerprint` in `test_cells.py`; `delay`, `sources`,
`post` and `feedback` in `test_late.py`.
"""
