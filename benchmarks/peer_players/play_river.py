"""river: `bandit` policies, with `pull` and `update`."""

import random

from playing import Contender, in_range, serve
from river import bandit, preprocessing, proba, stats

ARMS = list(range(10))


def live(policy, shown=float):
    """Return the two functions of a policy that sees shown(reward)."""
    return lambda: policy.pull(ARMS), lambda arm, reward: policy.update(arm, shown(reward))


def ucb(value, seed):
    return live(bandit.UCB(delta=value, seed=seed))


def scaled_ucb(value, seed):
    """As the documentation recommends: rewards standardised."""
    scaler = preprocessing.TargetStandardScaler(None)
    return live(bandit.UCB(delta=value, reward_scaler=scaler, seed=seed))


def median_ucb(value, seed):
    """The running estimate of the median, in the place of the mean."""
    return live(bandit.UCB(delta=value, reward_obj=stats.Quantile(0.5), seed=seed))


def window_median_ucb(value, seed):
    """The median of an arm's last 1,000 rewards, in the place of the mean."""
    median = stats.RollingQuantile(0.5, window_size=1000)
    return live(bandit.UCB(delta=value, reward_obj=median, seed=seed))


def thompson(value, seed):
    """A Gaussian needs two rewards before it has a spread, so `burn_in` is the rule."""
    gaussian = proba.Gaussian()
    return live(bandit.ThompsonSampling(reward_obj=gaussian, burn_in=int(value), seed=seed))


def epsilon_greedy(value, seed):
    return live(bandit.EpsilonGreedy(epsilon=value, seed=seed))


def exp3(value, seed):
    return live(bandit.Exp3(gamma=value, seed=seed), in_range)


DELTAS = (0.1, 0.3, 1, 3, 10, 100, 1000)
EPSILONS = (0.0, 0.03, 0.1, 0.3, 0.6, 1.0)
CONTENDERS = {
    "UCB": Contender(ucb, "delta", 1, DELTAS),
    "UCB, TargetStandardScaler": Contender(scaled_ucb, "delta", 1, DELTAS),
    "UCB, stats.Quantile": Contender(median_ucb, "delta", 1, DELTAS),
    "UCB, stats.RollingQuantile": Contender(window_median_ucb, "delta", 1, DELTAS),
    "ThompsonSampling, Gaussian": Contender(thompson, "burn_in", 2, (2, 3, 5, 10, 20, 50)),
    "EpsilonGreedy": Contender(epsilon_greedy, "epsilon", 0.1, EPSILONS),
    "Exp3": Contender(exp3, "gamma", 0.1, (0.01, 0.03, 0.1, 0.3, 0.6, 1.0)),
}


def loop(make):
    """Return a function that plays rounds as the documentation shows."""

    def play(rounds):
        policy = make()
        for _ in range(rounds):
            arm = policy.pull(ARMS)
            policy.update(arm, random.gauss(2 * arm + 2, 1))

    return play


SPEEDS = {
    "bandit.UCB: pull, update": (loop(lambda: bandit.UCB(delta=1, seed=1)), 10_000),
    "bandit.EpsilonGreedy: pull, update": (
        loop(lambda: bandit.EpsilonGreedy(epsilon=0.1, seed=1)),
        10_000,
    ),
}

if __name__ == "__main__":
    serve(CONTENDERS, SPEEDS)
