"""Draws by place: as documented, uniform, and unrelated to each other."""

import numpy as np

from ironarm.lab.scenarios.draws import uniforms

MASK = 2**64 - 1


def by_hand(seed, stream, request, deployment):
    """The documented lines, on Python's whole numbers."""
    h = 0
    for v in (seed, stream, request, deployment):
        z = (h + v + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        h = z ^ (z >> 31)
    return ((h >> 12) + 0.5) / 2**52


def test_they_are_what_the_documentation_says():
    """Bit for bit, also for the largest seed."""
    for seed, stream in ((1, 0), (2**63 - 1, 17)):
        found = uniforms(seed, stream, 50, 4)
        expected = [[by_hand(seed, stream, t, k) for k in range(4)] for t in range(1, 51)]
        assert expected == found.tolist()


def test_a_number_depends_on_its_place_alone():
    """More requests or deployments change none of the others."""
    assert (uniforms(3, 1, 100, 5)[:40, :2] == uniforms(3, 1, 40, 2)).all()


def test_they_are_uniform_and_independent():
    """Each check fails a good generator with probability below 1e-5."""
    first, other = uniforms(1, 0, 20_000, 5), uniforms(2, 0, 20_000, 5)
    n = first.size
    assert 0 < first.min()
    assert first.max() < 1
    sorted_ = np.sort(first, axis=None)
    gap = np.abs(sorted_ - (np.arange(n) + 0.5) / n).max()
    assert gap < np.sqrt(np.log(2e5) / (2 * n))  # Dvoretzky, Kiefer, Wolfowitz, Massart
    limit = 4.5 / np.sqrt(20_000)
    for x, y in [
        (first[:, 0], first[:, 1]),
        (first[1:, 0], first[:-1, 0]),
        (first[:, 0], other[:, 0]),
        (first[:, 0], uniforms(1, 1, 20_000, 5)[:, 0]),
    ]:
        assert abs(np.corrcoef(x, y)[0, 1]) < limit
