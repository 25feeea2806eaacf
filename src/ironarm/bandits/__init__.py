"""Reward laws. A new bandit is one file, its test, and one line here."""

from .base import Bandit
from .bernoulli import BernoulliBandit
from .gaussian import GaussianBandit
from .replay import ReplayBandit
from .scipy_laws import ScipyBandit

__all__ = ["Bandit", "BernoulliBandit", "GaussianBandit", "ReplayBandit", "ScipyBandit"]
