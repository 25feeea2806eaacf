"""Arms have laws with one best mean; bad ones are refused with a sentence."""

import numpy as np
import pytest
from scipy import stats

import ironarm as ia
from ironarm.theory import Arms, Normal


def test_a_normal_law_agrees_with_scipy():
    """Distribution function, quantiles and density."""
    ours, theirs = Normal(2, 3), stats.norm(2, 3)
    x = np.linspace(-9, 9, 50)
    np.testing.assert_allclose(ours.cdf(x), theirs.cdf(x), rtol=1e-13)
    np.testing.assert_allclose(ours.pdf(x), theirs.pdf(x), rtol=1e-13)
    np.testing.assert_allclose(ours.ppf([0.1, 0.5, 0.99]), theirs.ppf([0.1, 0.5, 0.99]), rtol=1e-13)


def test_normal_laws_of_scipy_get_the_closed_forms():
    """Also when they are given as a ScipyBandit."""
    arms = Arms.of(ia.ScipyBandit([stats.norm(0, 2), stats.norm(3, 2)]))
    assert arms.common_sigma == 2.0
    assert arms.gaps.tolist() == [3.0]


def test_laws_of_several_kinds():
    """A continuous and a discrete one.

    No density for all, so Assumption 1 cannot hold.
    """
    arms = Arms.of([stats.expon(scale=2), stats.binom(10, 0.9)])
    assert not arms.continuous
    assert arms.best == 1
    assert arms.common_sigma is None


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (ia.GaussianBandit([1, 3, 3]), "best arm must be unique, got the mean 3 for arms 1, 2"),
        (ia.GaussianBandit([1]), "at least 2"),
        (ia.GaussianBandit([1, 2], sigma=0), "sigma must be above 0"),
        (ia.GaussianBandit([1, 2], sigma=[1, 0]), "sigma must be above 0"),
        (ia.ReplayBandit([("a", 1.0), ("b", 2.0)]), "theory.fit"),
        ([1, 2], "must have cdf, ppf and mean"),
        (7, "needs reward laws"),
        ([stats.cauchy(0), stats.norm(1)], "finite mean"),
    ],
)
def test_what_has_no_certificate_is_refused(source, message):
    """With a sentence that says what is expected."""
    with pytest.raises(ia.InvalidInput, match=message):
        Arms.of(source)
