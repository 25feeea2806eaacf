"""Trials in parallel, checkpoints, the result."""

from .result import Result
from .simulate import simulate

__all__ = ["Result", "simulate"]
