"""Radios: each file has one kind.

`simulated` is the default; all of them are a `Radio`.
"""
