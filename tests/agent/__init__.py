"""Tests of ironarm.agent. `input` is tested through the agent, in test_agent.py."""
