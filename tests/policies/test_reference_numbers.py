"""We reproduce regrets of other authors and of a plain implementation.

And no policy beats the lower bound by more than it may. A row agrees if our mean is
within four combined standard errors of the reference's. If the reference prints no
error, both come from the standard deviation of one run, `sd`, as 100 to 1000 trials of
ours with other seeds have shown it. A correct implementation fails a row about once in
15,000 seeds, and one of the 120 rows here about once in 125; the seeds are fixed.
"""

import math
import os

import numpy as np
import pytest
from scipy import stats
from scipy.special import lambertw

import ironarm as ia
from ironarm.normal import inverse_normal
from ironarm.theory import observed_kl
from tests.simulation.test_paper import shares_agree

pytestmark = [
    pytest.mark.statistical,
    pytest.mark.skipif(
        os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="a hundred million rounds"
    ),
]

PAPER = ia.GaussianBandit(means=range(2, 21, 2))
SMALL_GAPS = ia.GaussianBandit(means=[1, 0.5, 0.5, 0.5, 0.5])


def final_regret(policies, bandit, attack, horizon, trials, seed):
    """The regrets of all trials, policy by policy, and which of them are stuck."""
    result = ia.simulate(
        policies,
        bandit,
        attack,
        horizon=horizon,
        trials=trials,
        seed=seed,
        checkpoints=[],
        progress=False,
    )
    return result.regret[:, :, -1], result.stuck


def agrees(values, low, high, sd, runs):
    """Say whether the mean is within four combined standard errors of the reference.

    `runs` runs of the reference gave a number or a range; rounding loses half a unit.
    """
    away = max(low - values.mean(), values.mean() - high, 0)
    return away <= 4 * sd * math.sqrt(1 / len(values) + 1 / runs) + 0.5


# CRIMED, Figure 2: three arms N(0.8 / 0.9 / 1, 0.25), one reward in a hundred an
# outlier around one number for the best arm and another for the others


@ia.extend.hot
def normal_outlier(e, a, x, u, v):
    """A normal outlier."""
    return (e.on_best if a == e.best else e.on_others) + inverse_normal(u)


@ia.extend.hot
def cauchy_outlier(e, a, x, u, v):
    """A Cauchy outlier."""
    return (e.on_best if a == e.best else e.on_others) + math.tan(math.pi * (u - 0.5))


OUTLIERS = {
    "near": (ia.CustomAttack(0.01, normal_outlier, {"on_best": 0.8, "on_others": 1}), 5000),
    "far": (ia.CustomAttack(0.01, normal_outlier, {"on_best": -20, "on_others": 10}), 5000),
    "Cauchy": (ia.CustomAttack(0.01, cauchy_outlier, {"on_best": -20, "on_others": 10}), 10_000),
}
# policy: for each of the three, the reference's mean over 100 runs, or the range of
# several, and sd
CRIMED_FIGURE = {
    ia.IMED(sigma=1): {"near": (79, 79, 19), "far": (532, 532, 42), "Cauchy": (1090, 1090, 201)},
    ia.policies.CRIMEDStar(epsilon=0.01, sigma=0.5): {
        "near": (36, 36, 41),
        "far": (53, 53, 88),
        "Cauchy": (40, 40, 161),
    },
    ia.policies.CRIMEDStar(epsilon=0.01, sigma=1): {
        "near": (91, 91, 27),
        "far": (119, 119, 71),
        "Cauchy": (128, 128, 137),
    },
    ia.CountIMED(epsilon=0.01, sigma=0.5): {
        "near": (37, 37, 26),
        "far": (50, 54, 45),
        "Cauchy": (52, 67, 71),
    },
    ia.MedEUCB(omega=1, block=500): {
        "near": (71, 71, 24),
        "far": (76, 76, 28),
        "Cauchy": (103, 103, 33),
    },
}


@pytest.mark.parametrize("outliers", OUTLIERS)
def test_the_figure_of_crimed(outliers):
    """Few outliers and small gaps.

    IMED gets a sigma of 1 instead of 0.5, as it must have been for the published
    figure.
    """
    attack, horizon = OUTLIERS[outliers]
    regret, _ = final_regret(
        list(CRIMED_FIGURE),
        ia.GaussianBandit([0.8, 0.9, 1.0], sigma=0.5),
        attack,
        horizon,
        trials=100,
        seed=41,
    )
    for values, (policy, rows) in zip(regret, CRIMED_FIGURE.items(), strict=True):
        assert agrees(values, *rows[outliers], runs=100), (
            policy.label,
            outliers,
            values.mean(),
            rows[outliers],
        )


def test_the_order_of_zimmert_and_seldin():
    """Eight Bernoulli arms, gap 1/8: Thompson < Tsallis-INF < UCB1 < EXP3++ < EXP3.

    Each differs from the next by more than three standard errors of the difference,
    although all share one tape. The published figure has the order up to T = 1e7; it is
    there at 1e5 already. UCB1's bonus is sqrt(2 log t / n), hence alpha = 4 with sigma
    = 1/2. Measured over 20 trials: 167, 528, 1004, 1254, 1902, with standard errors of
    5, 23, 15, 48, 36. Were two neighbours equal, this would still pass in one of 700
    seeds.
    """
    policies = [
        ia.policies.ThompsonGaussian(sigma=0.5),
        ia.TsallisINF(),
        ia.UCB(alpha=4, sigma=0.5),
        ia.policies.EXP3PlusPlus(),
        ia.EXP3(),
    ]
    regret, _ = final_regret(
        policies, ia.BernoulliBandit([0.5625] + [0.4375] * 7), None, 100_000, trials=20, seed=42
    )
    for worse, better, policy in zip(regret[1:], regret[:-1], policies[1:], strict=True):
        assert worse.mean() - better.mean() > 3 * (worse - better).std(ddof=1) / math.sqrt(20), (
            policy.label
        )


# Other implementations, run once on Bernoulli arms: mean regret, sd and runs. Thompson
# and klUCB(tolerance=1e-9) are those of SMPyBandits (commit 012fc13), whose klUCB uses
# log(t - 1) in round t; IMED is makeBoundedIMEDIndex of rlberry (commit d92845b), which
# solves for the evidence against any law in [0, 1]: on 0/1 rewards that is kl. (IMED of
# SMPyBandits takes the minimiser for the minimum, so it says nothing.)
TWO, LOW = [0.9, 0.8], [0.1] + [0.05] * 3 + [0.02] * 3 + [0.01] * 3
CLICKS = [
    pytest.param(ia.policies.ThompsonBeta(), TWO, 1000, 6.698, 8.524, 400, id="Thompson, two arms"),
    pytest.param(
        ia.policies.ThompsonBeta(), LOW, 2000, 54.607, 13.154, 200, id="Thompson, ten arms"
    ),
    pytest.param(ia.KLUCB(), TWO, 500, 5.262, 3.92, 150, id="kl-UCB, two arms"),
    pytest.param(ia.policies.BernoulliIMED(), TWO, 500, 5.552, 4.275, 66, id="IMED, two arms"),
]


@pytest.mark.parametrize(("policy", "rates", "horizon", "mean", "sd", "runs"), CLICKS)
def test_other_implementations_on_clicks(policy, rates, horizon, mean, sd, runs):
    """Garivier and Cappe's arms: 0.9 and 0.8, and ten with low rates; 400 trials."""
    regret, _ = final_regret([policy], ia.BernoulliBandit(rates), None, horizon, 400, seed=44)
    away = abs(regret[0].mean() - mean)
    assert away <= 4 * sd * math.sqrt(1 / 400 + 1 / runs), (regret[0].mean(), mean)


# Niss and Tewari, Figure 1 without contamination: values read off a plot of 10 runs,
# and sd. Parameters are not printed; alpha is a guess. UCB has the bonus of their own
# crUCB, sqrt(4 log t / n); with UCB1's, sqrt(2 log t / n), it would have 47, and 637 if
# rewards are mapped to [0, 1] first. Tsallis-INF must be the variant with reduced
# variance, the plain one has 405. EXP3++ has 695 with the learning rate for which its
# regret is proved; the one here is chosen to fit, so this row says only that some rate
# does
BINOMIAL = [
    pytest.param(ia.EXP3(reward_range=(0, 10)), 700, 103, id="EXP3"),
    pytest.param(ia.UCB(alpha=2), 75, 21, id="UCB"),
    pytest.param(ia.policies.CRUCB(alpha=0.05), 70, 21, id="tUCB"),
    pytest.param(ia.policies.CRUCB(alpha=0.05, mean="shorth"), 100, 26, id="sUCB"),
    pytest.param(ia.RUCB(median="upper"), 100, 20, id="RUCB"),
    pytest.param(
        ia.TsallisINF(reward_range=(0, 10), variance="reduced"), 265, 103, id="TsallisINF"
    ),
    pytest.param(
        ia.policies.EXP3PlusPlus(reward_range=(0, 10), rate=1.6), 420, 43, id="EXP3PlusPlus"
    ),
]


@pytest.mark.parametrize(("policy", "mean", "sd"), BINOMIAL)
def test_the_figure_of_niss_and_tewari(policy, mean, sd):
    """Five arms, Binomial(10, 0.9) and four times Binomial(10, 0.8), T = 1000."""
    bandit = ia.ScipyBandit([stats.binom(10, 0.9)] + [stats.binom(10, 0.8)] * 4)
    regret, _ = final_regret([policy], bandit, None, 1000, trials=50, seed=43)
    assert agrees(regret[0], mean, mean, sd, runs=10), (regret[0].mean(), mean)


@ia.extend.hot
def wrong_half(e, a, x, u, v):
    """Uniform in the lower half of the range for the best arm, else in the upper."""
    return 5.0 * u if a == e.best else 5.0 + 5.0 * u


# the same with contamination, which is described as uniform, malicious and within the
# range; this is the simplest attack of that kind. share: policy: mean, and sd
CONTAMINATED = {
    0.05: {
        "EXP3": (910, 99),
        "UCB": (165, 198),
        "tUCB": (205, 177),
        "sUCB": (250, 237),
        "RUCB": (190, 173),
        "TsallisINF": (370, 142),
        "EXP3PlusPlus": (575, 67),
    },
    0.1: {
        "EXP3": (680, 88),
        "UCB": (660, 274),
        "tUCB": (240, 204),
        "sUCB": (250, 312),
        "RUCB": (155, 250),
        "TsallisINF": (720, 180),
        "EXP3PlusPlus": (790, 82),
    },
}
NOT_FOUND = {
    (
        "EXP3",
        0.05,
    ): "ours has 737; theirs is worse under the weaker contamination than under the stronger",
    ("EXP3PlusPlus", 0.1): "ours has 665, with a rate that is chosen to fit",
}


@pytest.mark.parametrize(
    ("row", "share"),
    [
        pytest.param(
            row,
            share,
            marks=[pytest.mark.xfail(strict=True, reason=NOT_FOUND[row.id, share])]
            if (row.id, share) in NOT_FOUND
            else [],
            id=f"{row.id}-{share}",
        )
        for share in CONTAMINATED
        for row in BINOMIAL
    ],
)
def test_the_figure_of_niss_and_tewari_with_contamination(row, share):
    """Policies as above, 12 of 14 values."""
    bandit = ia.ScipyBandit([stats.binom(10, 0.9)] + [stats.binom(10, 0.8)] * 4)
    regret, _ = final_regret(
        [row.values[0]], bandit, ia.CustomAttack(share, wrong_half), 1000, trials=50, seed=51
    )
    mean, sd = CONTAMINATED[share][row.id]
    assert agrees(regret[0], mean, mean, sd, runs=10), (regret[0].mean(), mean)


# the paper's arms and attack, T = 1e5; rows without a standard error have 10 runs and
# sd; then the share of stuck runs in 400
PAPERS_ATTACK = {
    0.0: {
        ia.policies.CRIMEDStar(epsilon=0.05): ((375, 2), 6, None),
        ia.CountIMED(epsilon=0.05): ((369, 2), 5, None),
        ia.CountIMED(epsilon=0.4): ((995, 1.3), 4, None),
    },
    0.125: {
        ia.policies.CRIMEDStar(epsilon=0.125): ((4582, 1268), 15_000, 0.015),
        ia.CountIMED(epsilon=0.125): ((586, 13), 260, 0),
        ia.CountIMED(epsilon=0.4): ((1284, 3), 60, 0),
    },
    0.3: {
        ia.policies.CRIMEDStar(epsilon=0.3): ((12_526, 1999), 40_000, 0.0375),
        ia.CountIMED(epsilon=0.3): ((1295, 46), 1350, 0),
        ia.CountIMED(epsilon=0.4): ((1426, 5), 204, 0),
    },
}


@pytest.mark.parametrize("rho", PAPERS_ATTACK)
def test_imed_policies_on_the_papers_task(rho):
    """Means, and how often they fail.

    (With epsilon = rho + 0.05, see test_count_imed.py.)
    """
    rows = PAPERS_ATTACK[rho]
    regret, stuck = final_regret(
        list(rows), PAPER, ia.OppositeUniform(rho=rho), 100_000, trials=40, seed=44
    )
    for i, (policy, ((mean, error), sd, share)) in enumerate(rows.items()):
        assert abs(regret[i].mean() - mean) <= 4 * math.hypot(sd / math.sqrt(40), error), (
            policy.label,
            regret[i].mean(),
            mean,
        )
        if share is not None:
            assert shares_agree(stuck[i], share, 400), (policy.label, stuck[i].mean(), share)


@pytest.mark.parametrize(
    ("rho", "epsilon", "expected"),
    [(0.0, 0.05, 16_650), (0.125, 0.125, 26_190), (0.3, 0.3, 109_620)],
)
def test_crimed_costs_its_forced_start(rho, epsilon, expected):
    """Exactly 185, 291 or 1218 pulls of each arm, and no wrong arm afterwards."""
    regret, _ = final_regret(
        [ia.policies.CRIMED(epsilon=epsilon)],
        PAPER,
        ia.OppositeUniform(rho=rho),
        100_000,
        trials=2,
        seed=45,
    )
    assert regret.tolist() == [[expected, expected]]


# other attacks, T = 1e5. policy: (attack, rho): the reference's mean, and sd
OTHER_ATTACKS = {
    "MedEUCB": {
        ("Mimic", 0.125): (4230, 0),
        ("Mimic", 0.3): (4248, 30),
        ("Infinite", 0.125): (4230, 1),
        ("Infinite", 0.3): (7826, 19_500),
    },
    "RUCB": {("Mimic", 0.125): (147, 25), ("Mimic", 0.3): (257, 122)},
    "CRIMEDStar": {
        ("Mimic", 0.125): (653, 10),
        ("Mimic", 0.3): (2394, 48),
        ("Infinite", 0.125): (4795, 15_000),
        ("Infinite", 0.3): (13_490, 49_800),
    },
    "CountIMED": {
        ("Mimic", 0.125): (746, 73),
        ("Mimic", 0.3): (2600, 406),
        ("Infinite", 0.125): (566, 31),
    },
    "CountIMED 0.4": {
        ("Mimic", 0.125): (1413, 159),
        ("Mimic", 0.3): (3085, 490),
        ("Infinite", 0.125): (1012, 16),
    },
}


@pytest.mark.parametrize("rho", [0.125, 0.3])
@pytest.mark.parametrize("attack", [ia.Mimic, ia.Infinite], ids=["Mimic", "Infinite"])
def test_other_attacks_on_the_papers_arms(attack, rho):
    """Rewards that look right, and infinite ones; 200 and 100 runs of the reference."""
    policies = {
        "MedEUCB": ia.MedEUCB(),
        "RUCB": ia.RUCB(),
        "CRIMEDStar": ia.policies.CRIMEDStar(epsilon=rho),
        "CountIMED": ia.CountIMED(epsilon=rho + 0.05),
        "CountIMED 0.4": ia.CountIMED(epsilon=0.4),
    }
    setting, runs = (attack.__name__, rho), 200 if attack is ia.Mimic else 100
    regret, _ = final_regret(
        list(policies.values()), PAPER, attack(rho=rho), 100_000, trials=30, seed=46
    )
    for values, name in zip(regret, policies, strict=True):
        if setting in OTHER_ATTACKS[name]:
            mean, sd = OTHER_ATTACKS[name][setting]
            assert agrees(values, mean, mean, sd, runs), (name, setting, values.mean(), mean)


def test_count_imed_under_infinite_rewards():
    """At rho = 0.3 rare long runs decide a mean, so this takes more trials.

    The largest of 100 runs of the reference were 9900 and 15,546, which alone make an
    sd of 890 and 1440. 1500 trials of ours had an sd of about 1580 and 300.
    """
    regret, stuck = final_regret(
        [ia.CountIMED(epsilon=0.35), ia.CountIMED(epsilon=0.4)],
        PAPER,
        ia.Infinite(rho=0.3),
        100_000,
        trials=300,
        seed=49,
    )
    assert agrees(regret[0], 1045, 1045, 1580, runs=100), regret[0].mean()
    assert agrees(regret[1], 1224, 1224, 1440, runs=100), regret[1].mean()
    assert stuck.mean(axis=1).max() < 0.01


# small gaps. rho: policy: the reference's mean, sd, runs
SMALL = {
    0.05: {
        ia.MedEUCB(): (580, 99, 300),
        ia.MedEUCB(omega=2): (309, 80, 40),
        ia.CountIMED(epsilon=0.08): (383, 304, 300),
        ia.RUCB(): (6810, 15_500, 300),
        ia.policies.CRIMEDStar(epsilon=0.05): (1919, 6800, 300),
    },
    0.125: {ia.MedEUCB(): (3390, 793, 300), ia.CountIMED(epsilon=0.155): (2567, 3160, 300)},
}
SHARES = {ia.RUCB: 0.125, ia.policies.CRIMEDStar: 0.025}  # stuck


@pytest.mark.parametrize("rho", SMALL)
def test_gaps_of_half_a_standard_deviation(rho):
    """Five arms, four of them alike, T = 1e5; RUCB fails in one run of eight.

    The reference gives epsilon = 0.1 for CRIMEDStar. With that, 2000 trials of ours
    have a mean of 496 and 0.2 % stuck; with epsilon = rho, as in its other tables, 1105
    and 1.6 %, which agrees with its 1919 and 2.5 % of 300 runs (a share that no number
    of 300 runs gives; of 40 it would be one). So the row is taken for epsilon = rho.
    """
    rows = SMALL[rho]
    regret, stuck = final_regret(
        list(rows), SMALL_GAPS, ia.OppositeUniform(rho=rho), 100_000, trials=40, seed=47
    )
    for values, failed, (policy, (mean, sd, runs)) in zip(regret, stuck, rows.items(), strict=True):
        assert agrees(values, mean, mean, sd, runs), (policy.label, values.mean(), mean)
        if type(policy) in SHARES:
            assert shares_agree(failed, SHARES[type(policy)], 300), (policy.label, failed.mean())


@ia.extend.hot
def jammed(e, a, x, u, v):
    """A SINR with a mean of 5 to 10 dB, whichever channel it is."""
    return 5.0 + 5.0 * u + inverse_normal(v)


# the radio's means as normal SINRs, T = 2000. rho: policy: the reference's mean, its
# runs, its share of stuck runs, and sd
RADIO = {
    0.0: {
        ia.MedEUCB(block=200): (1023, 2000, 0, 0),
        ia.MedEpsilonGreedy(): (1541, 100, 0, 95),
        ia.RUCB(): (39, 2000, 0, 4),
        ia.UCB(alpha=2.1): (41, 100, 0, 4),
        ia.EpsilonGreedy(): (1552, 100, 0, 104),
        ia.EXP3(reward_range=(0, 45)): (6918, 100, None, 1267),
        ia.CatoniUCB(): (2013, 100, 0, 0),
        ia.policies.CRIMEDStar(epsilon=0.05): (100, 2000, 0, 2),
        ia.CountIMED(epsilon=0.05): (99, 2000, 0, 1),
        ia.CountIMED(epsilon=0.4): (231, 2000, 0, 0),
    },
    0.125: {
        ia.MedEUCB(block=200): (1023, 2000, 0, 0),
        ia.MedEpsilonGreedy(): (1541, 100, 0, 95),
        ia.RUCB(): (2381, 2000, 0.244, 4230),
        ia.UCB(alpha=2.1): (3487, 100, 0.35, 4608),
        ia.EpsilonGreedy(): (1663, 100, 0, 878),
        ia.EXP3(reward_range=(0, 45)): (7419, 100, None, 1293),
        ia.CatoniUCB(): (2013, 100, 0, 3),
        ia.policies.CRIMEDStar(epsilon=0.125): (729, 2000, 0.0285, 1872),
        ia.CountIMED(epsilon=0.175): (166, 2000, 0.0015, 388),
        ia.CountIMED(epsilon=0.4): (232, 2000, 0, 7),
    },
    0.3: {
        ia.MedEUCB(block=200): (1218, 2000, 0.015, 905),
        ia.MedEpsilonGreedy(): (1571, 100, 0, 437),
        ia.RUCB(): (7610, 2000, 0.568, 8063),
        ia.UCB(alpha=2.1): (6883, 100, 0.54, 6077),
        ia.EpsilonGreedy(): (2450, 100, 0.07, 2118),
        ia.EXP3(reward_range=(0, 45)): (8272, 100, None, 1281),
        ia.CatoniUCB(): (2891, 100, 0.06, 1331),
        ia.policies.CRIMEDStar(epsilon=0.3): (1732, 2000, 0.1, 2648),
        ia.CountIMED(epsilon=0.35): (343, 2000, 0.0035, 608),
        ia.CountIMED(epsilon=0.4): (282, 2000, 0, 282),
    },
}


@pytest.mark.parametrize("rho", RADIO)
def test_the_radios_channels_as_normal_laws(rho):
    """Means and shares of stuck runs, 300 trials."""
    rows = RADIO[rho]
    attack = ia.CustomAttack(rho, jammed) if rho else None
    regret, stuck = final_regret(
        list(rows), ia.GaussianBandit([41, 37, 35, 31, 28]), attack, 2000, trials=300, seed=50
    )
    for values, failed, (policy, (mean, runs, share, sd)) in zip(
        regret, stuck, rows.items(), strict=True
    ):
        assert agrees(values, mean, mean, sd, runs), (policy.label, values.mean(), mean)
        if share is not None:
            assert shares_agree(failed, share, runs), (policy.label, failed.mean(), share)


MILLION = 1_000_000
TESTS = 8  # how many counts Count-IMED takes the largest evidence of
UNIFORM, MIMIC = (
    (ia.OppositeUniform, lambda gap: stats.uniform(0, 1800)),
    (ia.Mimic, lambda gap: stats.norm(gap, 1)),
)


def adaptive(rho):
    """It needs no parameters."""
    return ia.CoherentIMED()


@pytest.mark.parametrize(
    ("made", "attack", "rho"),
    [
        pytest.param(ia.CountIMED.for_rho, UNIFORM, 0.125, id="CountIMED-OppositeUniform-0.125"),
        pytest.param(ia.CountIMED.for_rho, UNIFORM, 0.3, id="CountIMED-OppositeUniform-0.3"),
        pytest.param(ia.CountIMED.for_rho, MIMIC, 0.125, id="CountIMED-Mimic-0.125"),
        pytest.param(ia.CountIMED.for_rho, MIMIC, 0.3, id="CountIMED-Mimic-0.3"),
        pytest.param(ia.CountIMED, MIMIC, 0.125, id="CountIMED without margin-Mimic-0.125"),
        pytest.param(ia.CountIMED, MIMIC, 0.3, id="CountIMED without margin-Mimic-0.3"),
        pytest.param(adaptive, UNIFORM, 0.125, id="CoherentIMED-OppositeUniform-0.125"),
        pytest.param(adaptive, UNIFORM, 0.3, id="CoherentIMED-OppositeUniform-0.3"),
        pytest.param(adaptive, MIMIC, 0.125, id="CoherentIMED-Mimic-0.125"),
        pytest.param(adaptive, MIMIC, 0.3, id="CoherentIMED-Mimic-0.3"),
    ],
)
def test_the_lower_bound_is_not_beaten_by_more_than_its_slack(made, attack, rho):
    """After a million rounds the regret is at least the attack's own lower bound.

    The bound is log T sum(gap / I), less what an IMED policy saves at a finite horizon.
    I is `observed_kl`: what a reward of the arm tells at most, under this attack,
    against its being the best. An IMED policy pulls an arm again while its evidence +
    log n is below the log of the leader's count, which is at most log T. The evidence
    of n rewards is the largest of eight numbers n kl(p, q). Each is at most n I if p is
    the true probability, because counting loses information. With the observed share
    for p its mean is larger by 1/2, by the second term of Taylor's series, n/2 * p(1 -
    p)/n * 1/(p(1 - p)). The largest of eight, whose excesses have exponential tails of
    rate 1, is in the mean at most log 8 above the largest mean. So an arm's count is on
    average about the n of

        n I + log n + 1/2 + log 8 = log T,   which is n = W(T I / (8 sqrt(e))) / I,

    W being Lambert's function: log T - log log T - a constant, over I. That is 0.58 to
    0.70 of the bound here. (The mean that the evidence is held against, the leader's
    median + beta, lies up to 0.1 above the best one if the attack moves the median by
    less than it could; that adds little to I.) The smallest regret, without a margin
    under Mimic, is four standard errors above (false alarm below 1e-4 each). The
    constant matters in one row: with log n alone, 2866 would be left for CountIMED
    without a margin under Mimic at rho = 0.3, which has 2737 to 2761.
    """
    kind, shown = attack
    gaps = PAPER.gaps[PAPER.gaps > 0]
    tells = np.array([observed_kl(float(gap), rho, attacked=shown(gap)) for gap in gaps])
    least = float(
        (gaps * lambertw(MILLION * tells / (TESTS * math.sqrt(math.e))).real / tells).sum()
    )
    assert 0.55 < least / (math.log(MILLION) * (gaps / tells).sum()) < 0.75
    regret, _ = final_regret([made(rho)], PAPER, kind(rho=rho), MILLION, trials=8, seed=48)
    assert regret.mean() > least, (regret.mean(), least)
