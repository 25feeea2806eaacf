"""Live decisions: the agent, its file, its log, the look at its first rewards."""

from typing import TYPE_CHECKING

from ..lazy import Names

if TYPE_CHECKING:
    from .agent import Agent as Agent
    from .agent import Decision as Decision
    from .durable import DurableAgent as DurableAgent
    from .reward_check import RewardWarning as RewardWarning
else:
    NAMES = Names(__name__, __file__)
    __getattr__, __dir__ = NAMES.get, NAMES.all
