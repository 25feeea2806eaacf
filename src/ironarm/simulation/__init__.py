"""Trials in parallel, checkpoints, the result."""

from .delay import Delay
from .result import Result
from .simulate import simulate
from .sources import Sources

__all__ = ["Delay", "Result", "Sources", "simulate"]
