"""Live decisions: the agent, its file, the look at its first rewards."""

from .agent import Agent, Decision
from .reward_check import RewardWarning

__all__ = ["Agent", "Decision", "RewardWarning"]
