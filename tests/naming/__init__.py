"""Tests of ironarm.naming.

`by_name` and `kind` are tested through `test_notation.py` and `test_own_code.py`,
`toml_fields` in `tests/lab`, where such files are read.
"""
