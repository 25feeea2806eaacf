"""Tests of ironarm.agent.

`core` and `input` are tested through the agent, in `test_agent.py`; `replay`, `log`,
`logged` and `store` through the durable agent, in `test_durable.py`, and in
`tests/service`.
"""
