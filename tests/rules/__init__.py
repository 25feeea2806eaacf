"""Tests of ironarm.rules.

The rules are tested through the policies that use them, choice by choice, in
`tests/policies/test_against_naive.py`; a file of its own is for what that cannot show.
"""
