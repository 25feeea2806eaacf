"""A certificate says what is promised and needed, and what to use.

It comes as a page and as JSON.
"""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import ironarm as ia
from ironarm.theory import needed_b, needed_c

PAPER = ia.GaussianBandit(range(2, 21, 2))
FEW = settings(max_examples=5, derandomize=True, deadline=None)


def test_the_papers_setting_at_an_eighth():
    """The promise is near the truth, no theorem applies, the condition is met."""
    certificate = ia.certify(PAPER, rho=0.125, policy=ia.MedEUCB(), horizon=100_000)
    assert certificate.guaranteed
    assert 4230 < certificate.bound < 4300
    assert certificate.largest_regret == 1.8e6
    assert not certificate.theorem.applies
    assert certificate.theorem.expected.parameters["b"] == pytest.approx(155.5, abs=0.1)
    assert certificate.sharp.met
    assert (
        round(certificate.budget.corollaries, 4),
        round(certificate.budget.malicious, 4),
        round(certificate.budget.coin, 4),
    ) == (0.1915, 0.3413, 0.4057)
    assert certificate.recommended.b < 4
    assert certificate.recommended_bound < certificate.bound


def test_the_papers_setting_at_three_tenths():
    """The regret grows as a power with b = 4, and the theorem applies to no b.

    Every b that it allows needs blocks longer than the horizon, so the page shows no
    bound of the paper. The recommended b meets the sharp condition.
    """
    certificate = ia.certify(PAPER, rho=0.3)
    assert not certificate.sharp.met
    assert certificate.sharp.exponent == pytest.approx(0.67, abs=0.01)
    theorem = certificate.theorem
    for bound in (
        theorem.expected,
        theorem.expected_printed,
        theorem.likely,
        theorem.likely_printed,
    ):
        assert bound.value == math.inf
        assert bound.remark == "does not apply: T <= G"
    page = " ".join(str(certificate).split())
    assert "No other parameters help: the horizon, 100,000, must be longer than a block" in page
    assert "neither Theorem 2 as printed nor ironarm's union bound applies" in page
    assert "as T^0.67" in page
    assert "with probability" not in page
    assert certificate.recommended.b >= needed_b(PAPER, 0.3)


@pytest.mark.statistical
def test_the_recommended_policy_keeps_its_promise():
    """Measured at rho = 0.3 under the paper's attack, its regret stays below the bound.

    It may exceed it by four standard errors: a false alarm once in 30,000.
    """
    certificate = ia.certify(PAPER, rho=0.3, horizon=20_000)
    measured = ia.simulate(
        certificate.recommended,
        PAPER,
        ia.OppositeUniform(rho=0.3),
        horizon=20_000,
        trials=40,
        seed=6,
        progress=False,
    ).regret[0, :, -1]
    assert (
        measured.mean() - 4 * measured.std(ddof=1) / math.sqrt(40) <= certificate.recommended_bound
    )


def test_the_papers_bounds_and_ours_are_told_apart():
    """Each with its parameters: as printed, as proved, and ironarm's own."""
    page = " ".join(str(ia.certify(PAPER, rho=0.125)).split())
    assert (
        "With b = 155.5, omega = 68.32 and blocks of 14,950 rounds it would bound the expected "
        "regret by 188,201 as printed; its proof would give 180,450."
    ) in page
    assert (
        "With b = 229.8, omega = 111.9 and blocks of 23,100 rounds, Theorem 2 as printed would "
        "bound the regret by 313,576 with probability 0.95. With b = 128.4, omega = 55.05 and "
        "blocks of 12,080 rounds, ironarm's union bound would give 181,695."
    ) in page
    page = " ".join(str(ia.certify(PAPER, rho=0.125, policy=ia.MedEpsilonGreedy())).split())
    assert (
        "With c just above 192.3, Theorem 4 as printed would bound the regret by 8.94e+10" in page
    )
    assert "its proof needs a horizon of at least 4.5e+09, which the statement leaves out" in page
    assert "ironarm's repair of its proof would give 9.48e+08 (vacuous)." in page


def test_json_says_what_does_not_apply():
    """A bound that does not apply is infinite, beside the conditions that fail."""
    theorem = ia.certify(PAPER, rho=0.3).to_dict()["theorem"]
    assert theorem["applies"] is False
    assert theorem["why_not"][0]["short"] == "b too small"
    assert theorem["likely_printed"]["value"] == "inf"
    assert theorem["likely_printed"]["why_not"][0]["short"] == "T <= G"
    assert theorem["likely_printed"]["vacuous"] is False


def test_a_negative_mean_leaves_no_printed_bound():
    """The paper's bound would be negative: -9.6e9 for these arms."""
    shifted = ia.GaussianBandit(range(-20, -1, 2))
    certificate = ia.certify(shifted, rho=0.125, policy=ia.MedEpsilonGreedy(c=200))
    assert certificate.theorem.applies
    assert certificate.theorem.expected_printed.remark == "does not apply: a mean is negative"
    assert certificate.theorem.likely_printed.value == math.inf
    assert "as printed does not apply: a mean is negative" in " ".join(str(certificate).split())


def test_a_theorem_that_applies():
    """With the parameters it asks for; its bound and Theorem 2's are shown."""
    certificate = ia.certify(PAPER, rho=0.125, policy=ia.MedEUCB(b=156, omega=68.5, block=15_100))
    assert certificate.theorem.applies
    assert "Theorem 1 applies" in str(certificate)
    assert (
        certificate.bound
        < certificate.theorem.bound
        < certificate.theorem.expected_printed.value
        < certificate.largest_regret
    )
    # Theorem 2 asks for a larger omega, ironarm's union bound for a smaller one
    assert "Theorem 2 as printed does not apply: omega too small" in " ".join(
        str(certificate).split()
    )
    assert certificate.theorem.likely.applies
    greedy = ia.certify(PAPER, rho=0.125, policy=ia.MedEpsilonGreedy(c=172))
    assert greedy.theorem.applies
    assert greedy.sharp.met
    assert greedy.sharp.needed == needed_c(PAPER, 0.125)


@pytest.mark.parametrize(
    ("policy", "rho", "reason"),
    [
        (ia.MedEUCB(), 0.45, "beyond what medians can take"),
        (ia.RUCB(), 0.1, "forces no exploration"),
        (ia.UCB(), 0.1, "no theorem for UCB"),
        (ia.EXP3(), 0.1, "corrupt. It fails in the paper's setting"),
        (ia.CountIMED(epsilon=0.15), 0.1, "no theorem for CountIMED"),
        (ia.TrimmedUCB(alpha=0.2), 0.1, "below alpha"),
        (ia.UCB(), 0.0, "certificates cover MedEUCB"),
    ],
)
def test_the_absence_of_a_promise_has_a_reason(policy, rho, reason):
    """On the page, too."""
    certificate = ia.certify(PAPER, rho=rho, policy=policy, horizon=10_000)
    assert not certificate.guaranteed
    assert reason in certificate.why_not
    assert ("It fails" in certificate.why_not) == (
        rho == 0.1 and isinstance(policy, (ia.UCB, ia.EXP3))
    )
    assert "none:" in str(certificate)


def test_a_vacuous_promise_is_no_promise():
    """Small gaps, much poison, a short horizon."""
    certificate = ia.certify(ia.GaussianBandit([0, 0.5]), rho=0.15, horizon=500)
    assert not certificate.guaranteed
    assert "vacuous at this horizon" in certificate.why_not
    assert certificate.bound == certificate.largest_regret == 250


def test_laws_that_are_not_normal():
    """Gamma laws have no corollary and no lower bound here; the rest is there."""
    certificate = ia.certify(
        ia.ScipyBandit([stats.gamma(3), stats.gamma(9)]), rho=0.1, horizon=20_000
    )
    assert certificate.guaranteed
    assert certificate.budget.corollaries is None
    assert certificate.floor_worst is None
    assert certificate.floor_unknown is None
    assert "corollaries" not in str(certificate)


def test_the_lower_bound_for_an_unknown_share():
    """It is beside the one for a policy that knows rho, and counts the larger share."""
    certificate = ia.certify(PAPER, rho=0.3)
    assert certificate.floor_unknown == pytest.approx(1166, abs=0.5)
    page = " ".join(str(certificate).split())
    assert "885.3 if outliers are far away. The latter is 1,165 for a policy that does" in page
    assert "every share up to 0.4." in page
    much = ia.certify(ia.GaussianBandit([0, 6]), rho=0.45)
    assert much.floor_unknown == much.floor_far
    assert "every share up to 0.45." in " ".join(str(much).split())
    short = ia.certify(ia.GaussianBandit([0] * 9 + [6]), rho=0.01, horizon=2)
    assert short.floor_far < short.floor_unknown == short.largest_regret == 12


def test_arms_on_which_no_policy_stands_every_share():
    """Medians take up to 0.2769 here, and so does every other policy."""
    certificate = ia.certify(ia.GaussianBandit([0, 1]), rho=0.1)
    assert certificate.floor_unknown == math.inf
    page = " ".join(str(certificate).split())
    assert "On these arms no policy can tolerate every share up to 0.4." in page


def test_without_poison_means_are_recommended():
    """And the certificate for the median policy still holds."""
    certificate = ia.certify(ia.GaussianBandit([0, 3], sigma=2), rho=0)
    assert certificate.guaranteed
    assert certificate.recommended == ia.UCB(sigma=2.0)


def test_zero_one_rewards_on_both_sides_of_one_half():
    """A promise with a remark; coinciding quartiles do not upset the recommendation."""
    certificate = ia.certify(
        ia.BernoulliBandit([0.95, 0.1]), rho=0.05, policy=ia.MedEpsilonGreedy(c=20), horizon=20_000
    )
    assert certificate.guaranteed
    assert "0 or 1" in str(certificate)
    assert certificate.recommended is not None


def test_json_is_complete_and_strict():
    """Every field, infinite numbers as text, no NaN."""
    for rho in (0.1, 0.45):
        data = json.loads(json.dumps(ia.certify(PAPER, rho=rho).to_dict(), allow_nan=False))
        assert data["policy"]["policy"] == "MedEUCB"
        assert data["rho"] == rho
        assert set(data) == set(ia.Certificate.__dataclass_fields__)
    assert data["sharp"]["needed"] == "inf"
    assert data["recommended"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(bandit=PAPER, rho=0.5), "no policy can tell the arms apart"),
        (dict(bandit=PAPER, rho=-0.1), "rho must be"),
        (dict(bandit=PAPER, rho="much"), "rho must be a number"),
        (dict(bandit=ia.GaussianBandit([1, 1]), rho=0.1), "best arm must be unique"),
        (dict(bandit=ia.GaussianBandit([1, 2], sigma=0), rho=0.1), "sigma must be above 0"),
        (dict(bandit=PAPER, rho=0.1, horizon=1), "horizon"),
        (dict(bandit=PAPER, rho=0.1, delta=0), "delta"),
        (dict(bandit=PAPER, rho=0.1, policy="MedEUCB"), "policy"),
        (dict(bandit=PAPER, rho=0.1, policy=ia.MedEUCB(block=100)), "block=100 is too small"),
        (dict(bandit=[1, 2], rho=0.1), "bandit must be a bandit"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, message):
    """What, expected, got."""
    with pytest.raises(ia.InvalidInput, match=message):
        ia.certify(**arguments)


@FEW
@given(
    st.floats(0.0, 0.35),
    st.floats(0.0, 0.12),
    st.floats(1, 6),
    st.floats(0.05, 20),
    st.floats(-100, 100),
)
def test_more_poison_never_improves_a_certificate_and_units_do_not_matter(
    rho, more, gap, scale, shift
):
    """Promise, bound, sharp condition and growth move one way only.

    Scaling all laws, and omega, changes the units of the bounds and nothing else.
    """
    here, worse = (
        ia.certify(ia.GaussianBandit([0, gap, -1]), rho=r, horizon=30_000)
        for r in (rho, rho + more)
    )
    assert worse.guaranteed <= here.guaranteed
    assert worse.bound >= here.bound * (1 - 1e-9)
    assert worse.sharp.needed >= here.sharp.needed * (1 - 1e-9)
    assert worse.sharp.exponent >= here.sharp.exponent - 1e-9
    assert worse.theorem.applies <= here.theorem.applies
    assert worse.floor_worst >= here.floor_worst * (1 - 1e-9)
    moved = ia.certify(
        ia.GaussianBandit([shift, shift + scale * gap, shift - scale], sigma=scale),
        rho=rho,
        policy=ia.MedEUCB(omega=4 * scale**2),
        horizon=30_000,
    )
    assert moved.guaranteed == here.guaranteed
    assert moved.bound == pytest.approx(scale * here.bound, rel=1e-4)
    assert moved.budget.coin == pytest.approx(here.budget.coin, abs=1e-9)
    assert moved.floor_worst == pytest.approx(scale * here.floor_worst, rel=1e-6)


@pytest.mark.parametrize("name", ["a", "an arm with a rather long name, of which there are many"])
def test_a_page_fits_80_columns(name):
    """From means and from data, also with long names and large numbers."""
    noise = np.random.default_rng(1)
    log = [(f"{name} {i}", x) for i in range(3) for x in noise.normal(123456.75 * i, 1.5, 60)]
    pages = [
        ia.certify(ia.ReplayBandit(log), rho=0.1, horizon=1000),
        ia.certify(ia.GaussianBandit([0, 3]), rho=0.1, policy=ia.MedEUCB(b=3.25, block=1234)),
    ]
    for page in map(str, pages):
        assert max(map(len, page.splitlines())) <= 80
