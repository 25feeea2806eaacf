"""PyMAB: `select_action` and `update`; for speed an `Experiment`, a loop in Rust."""

import numpy as np
from playing import Contender, in_range, serve
from pymab import BanditEnvironment, Experiment, ExperimentConfig
from pymab.policies import (
    EpsilonGreedyPolicy,
    EXP3Policy,
    GaussianBayesianUCBPolicy,
    GaussianThompsonSamplingPolicy,
    UCBPolicy,
)


def live(policy, seed, shown=float):
    """Return the two functions of a policy that sees shown(reward)."""
    rng = np.random.default_rng(seed)

    def update(arm, reward):
        policy.update(action=arm, reward=shown(reward))

    return lambda: policy.select_action(rng=rng), update


def ucb(value, seed):
    return live(UCBPolicy(n_arms=10, reward_scale=value), seed)


def bayesian_ucb(value, seed):
    return live(GaussianBayesianUCBPolicy(n_arms=10, prior_precision=value), seed)


def thompson(value, seed):
    return live(GaussianThompsonSamplingPolicy(n_arms=10, prior_precision=value), seed)


def epsilon_greedy(value, seed):
    return live(EpsilonGreedyPolicy(n_arms=10, epsilon=value), seed)


def exp3(value, seed):
    return live(EXP3Policy(n_arms=10, gamma=value), seed, in_range)


PRECISIONS = (1e-8, 1e-6, 1e-4, 1e-2, 1.0, 10.0)
CONTENDERS = {
    "UCBPolicy": Contender(ucb, "reward_scale", 1.0, (0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1000.0)),
    "GaussianBayesianUCBPolicy": Contender(bayesian_ucb, "prior_precision", 1.0, PRECISIONS),
    "GaussianThompsonSamplingPolicy": Contender(thompson, "prior_precision", 1.0, PRECISIONS),
    "EpsilonGreedyPolicy": Contender(
        epsilon_greedy, "epsilon", 0.1, (0.0, 0.03, 0.1, 0.3, 0.6, 1.0)
    ),
    "EXP3Policy": Contender(exp3, "gamma", 0.07, (0.01, 0.03, 0.07, 0.2, 0.5, 1.0)),
}


def play_experiment(rounds):
    many = max(1, rounds // 100_000)
    config = ExperimentConfig(
        horizon=min(rounds, 100_000), n_replicates=many, seed=1, backend="rust"
    )
    arms = BanditEnvironment(means=np.arange(2.0, 21.0, 2.0))
    policies = {"ucb": UCBPolicy(n_arms=10)}
    Experiment(environment=arms, policies=policies, config=config).run()


SPEEDS = {"UCBPolicy in an Experiment (its Rust loop)": (play_experiment, 100_000)}

if __name__ == "__main__":
    serve(CONTENDERS, SPEEDS)
