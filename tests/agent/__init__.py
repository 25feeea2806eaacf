"""Tests of ironarm.agent.

`input` is tested through the agent, in `test_agent.py`; `fold`, `log`, `logged` and
`store` through the durable agent, in `test_durable.py`, and in `tests/service`.
"""
