"""Laws as text: names of scipy.stats and numbers, never code."""

import pytest

import ironarm as ia
from ironarm.bandits.law_notation import law_from_text


def test_shapes_and_named_parameters():
    """As scipy.stats takes them."""
    assert law_from_text("norm(2, 1)").mean() == 2.0
    assert law_from_text("gamma(3, scale=2)").mean() == pytest.approx(6)
    assert law_from_text(" t(3, loc=-1) ").ppf(0.5) == pytest.approx(-1)
    assert law_from_text("binom(10, 0.5)").mean() == 5.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("norm", "cannot read the law"),
        ("norm(2, 1", "cannot read the law"),
        ("__import__('os').system('x')", "cannot read the law"),
        ("norm(open('x'))", "cannot read the law"),
        ("norm(*[1, 2])", "cannot read the law"),
        ("norm(**{'loc': 1})", "cannot read the law"),
        ("norm('a')", "cannot read the law"),
        ("norm(True)", "cannot read the law"),
        ("stats.norm(1)", "cannot read the law"),
        ("test(1)", "unknown law 'test'"),
        ("gausian(1)", "unknown law"),
        ("gama(3)", "Did you mean 'gamma'"),
        ("gamma()", "gamma takes a, loc, scale"),
        ("norm(1, 2, 3, 4)", "too few or unknown parameters"),
        ("norm(mean=3)", "too few or unknown parameters"),
        ("norm(0, -1)", "outside their range"),
        ("gamma(-3)", "outside their range"),
    ],
)
def test_anything_else_gets_a_sentence(text, message):
    """Also code, which is not run."""
    with pytest.raises(ia.InvalidInput, match=message.replace("(", r"\(")):
        law_from_text(text)
