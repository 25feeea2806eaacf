"""Tests of ironarm.lab.studies.

`evidence` and `statistics` are tested in `test_checks.py`, `runner` in
`test_reproduce.py`, `read` in `test_study.py`, `page` and `tables` in `test_report.py`.
"""
