"""The analytic law has the mean, the spread and the shape of what is measured."""

import numpy as np
import pytest
from scipy.stats import kstest

from ironarm.radio.signal.sinr_law import SinrLaw, estimator_spread


def test_distribution_functions_belong_together():
    """cdf and ppf are inverse, pdf is the slope, mean and spread are the integrals'."""
    for law in (SinrLaw(41.0, 0.97, 320), SinrLaw(5.0, 0.0, 320), SinrLaw(10.0, 3.0, 80)):
        p = np.linspace(1e-6, 1 - 1e-6, 999)
        assert law.cdf(law.ppf(p)) == pytest.approx(p, abs=1e-9)
        x = law.mean() + law.std() * np.linspace(-8, 8, 8001)
        assert np.gradient(law.cdf(x), x) == pytest.approx(law.pdf(x), abs=1e-3 * law.pdf(x).max())
        mean = np.trapezoid(x * law.pdf(x), x)
        assert mean == pytest.approx(law.mean(), abs=1e-4)
        assert np.sqrt(np.trapezoid((x - mean) ** 2 * law.pdf(x), x)) == pytest.approx(
            law.std(), rel=1e-3
        )
    assert (law.cdf(-np.inf), law.cdf(np.inf), law.pdf(-np.inf)) == (0, 1, 0)


def test_it_is_the_law_of_the_estimator():
    """Kolmogorov-Smirnov against 20,000 draws of the estimator, written plainly.

    5 dB, 320 symbols, 0.5 dB wander; fixed seed, false alarm 1e-4.
    """
    draw = np.random.default_rng(3)
    n, known, count = 10**-0.5, 320, 20_000
    gain = 1 + np.sqrt(n / known / 2) * (draw.normal(size=count) + 1j * draw.normal(size=count))
    residual = n * draw.gamma(known - 2, size=count) / (known - 2)
    sinr = 10 * np.log10(np.abs(gain) ** 2 / residual) + 0.5 * draw.normal(size=count)
    law = SinrLaw(5.0068, 0.5, known)
    assert kstest(sinr, law.cdf).pvalue > 1e-4
    # unit spread without wander needs 21 symbols
    assert estimator_spread(20) == pytest.approx(1.04, abs=0.01)
