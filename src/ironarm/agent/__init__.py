"""Live decisions: the agent, its file, its log, the look at its first rewards."""

from .agent import Agent, Decision
from .durable import DurableAgent
from .reward_check import RewardWarning

__all__ = ["Agent", "Decision", "DurableAgent", "RewardWarning"]
