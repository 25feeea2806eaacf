"""Tests of ironarm.agent.

`core` and `input` are tested through the agent, in `test_agent.py`, `alone` in
`test_without_lock.py`; `replay`, `log`,
`logged` and `store` through the durable agent, in `test_durable.py`, and in
`tests/service`.
"""
