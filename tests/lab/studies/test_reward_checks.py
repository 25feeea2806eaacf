"""Checks of rewards agree, disagree or cannot tell, on made-up rewards."""

import numpy as np
import pytest
from scipy.special import ndtri

import ironarm as ia
from ironarm.lab.studies.checking import together
from ironarm.lab.studies.claims import CHECKS
from ironarm.lab.studies.reward_checks import Rewards


class MadeUp(ia.GaussianBandit):
    """Two arms with a second law, set to one thing and giving another."""

    def __init__(self, gives, spread=1.0, skew=0.0):
        super().__init__([30, 20])
        self.jammed, self.jammed_laws, self._gives, self._spread, self._skew = (
            np.array([10.0, 5.0]),
            np.array([2, 3]),
            gives,
            spread,
            skew,
        )

    def rewards(self, arm, noise):
        z = np.sqrt(12) * (noise - 0.5) if self._skew else ndtri(noise)
        return self._gives[arm] + self._spread * z


@pytest.mark.parametrize(
    ("check", "bandit", "arguments", "expected"),
    [
        ("clean_means", MadeUp([30, 20, 9, 9], 1.3), {"means": [30, 20], "within": 0.1}, "agree"),
        ("clean_means", MadeUp([30, 20.3, 9, 9]), {"means": [30, 20], "within": 0.1}, "disagree"),
        (
            "clean_means",
            MadeUp([30, 20.1, 9, 9]),
            {"means": [30, 20], "within": 0.1},
            "cannot tell",
        ),
        (
            "clean_rewards",
            MadeUp([30, 20, 10, 5]),
            {"means": [30, 20], "spread": 1, "within": 0.1},
            "agree",
        ),
        (
            "clean_rewards",
            MadeUp([30, 20.3, 10, 5]),
            {"means": [30, 20], "spread": 1, "within": 0.1},
            "disagree",
        ),
        (
            "clean_rewards",
            MadeUp([30, 20.1, 10, 5]),
            {"means": [30, 20], "spread": 1, "within": 0.1},
            "cannot tell",
        ),
        (
            "clean_rewards",
            MadeUp([30, 20, 10, 5], spread=1.3),
            {"means": [30, 20], "spread": 1, "within": 0.1},
            "disagree",
        ),
        (
            "clean_rewards",
            MadeUp([30, 20, 10, 5], skew=1),
            {"means": [30, 20], "spread": 1, "within": 0.1},
            "cannot tell",
        ),
        (
            "attacked_rewards",
            MadeUp([30, 20, 10, 5]),
            {"low": 5, "high": 10, "within": 0.1},
            "agree",
        ),
        (
            "attacked_rewards",
            MadeUp([30, 20, 10, 4]),
            {"low": 5, "high": 10, "within": 0.1},
            "disagree",
        ),
        ("constant_level", MadeUp([30, 20, 10, 5]), {"within": 0.1}, "agree"),
        ("constant_level", ia.RadioBandit("analytic"), {"within": 0.1}, "disagree"),
        ("attack_takes", MadeUp([50, 45, 10, 5]), {"drop": 40, "within": 2}, "agree"),
        ("attack_takes", MadeUp([30, 20, 10, 5]), {"drop": 40, "within": 2}, "disagree"),
        ("reads_linearly", MadeUp([30, 20, 10, 5]), {"within": 0.1}, "agree"),
        ("reads_linearly", MadeUp([30, 20, 10, 7]), {"within": 0.1}, "disagree"),
    ],
)
def test_checks_of_rewards(check, bandit, arguments, expected):
    """Where the claim is true, where it is false, and at the edge."""
    assert (
        together(part.judgement for part in CHECKS[check].measure(Rewards(bandit, 1), arguments))
        == expected
    )


def test_every_check_of_rewards_is_tested():
    """A check that is added without a test is noticed here."""
    tested = {case[0] for mark in test_checks_of_rewards.pytestmark for case in mark.args[1]}
    assert tested == {name for name, check in CHECKS.items() if check.subject is Rewards}
