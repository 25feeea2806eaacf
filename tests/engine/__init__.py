"""Tests of ironarm.engine.

Some of its modules are tested where they are used:

* `loop`, `learning`, `machine`, `state`: `tests/policies/test_against_naive.py`, choice
  by choice, and `tests/agent`; `late`: `tests/simulation/test_late.py`;
* `adversary`: `tests/attacks`; `streams`: `tests/simulation/test_simulate.py`;
* `kept`: `test_linking.py`; `record_type`: `test_record.py`;
* `warm`: `test_linking.py`, and every test that compiles several policies;
* `interrupts`: `tests/test_signals.py`.
"""
