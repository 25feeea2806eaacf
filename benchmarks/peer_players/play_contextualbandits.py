"""contextualbandits: `predict` and `partial_fit`, with a context that is always 1.

"This package deals only with the case of discrete rewards {0,1}", so rewards are made
of 0 and 1 by a threshold. It has no default, and is tuned.
"""

import numpy as np
from contextualbandits.linreg import LinearRegression
from contextualbandits.online import EpsilonGreedy, LinTS, LinUCB
from playing import MEANS, Contender, serve

CONTEXT = np.ones((1, 1))


def live(policy, threshold):
    """Return the two functions of a policy that sees whether a reward is high."""

    def update(arm, reward):
        policy.partial_fit(CONTEXT, np.array([arm]), np.array([float(reward >= threshold)]))

    return lambda: policy.predict(CONTEXT)[0], update


def lin_ucb(value, seed):
    return live(LinUCB(10, fit_intercept=False, random_state=seed), value)


def lin_ts(value, seed):
    """Without a prior or smoothing it "can get stuck", says its documentation."""
    return live(LinTS(10, fit_intercept=False, beta_prior="auto", random_state=seed), value)


def epsilon_greedy(value, seed):
    base = LinearRegression(fit_intercept=False)
    return live(EpsilonGreedy(base, 10, batch_train=True, random_state=seed, njobs=1), value)


THRESHOLDS = (17, 18, 19, 20, 21)
CONTENDERS = {
    "LinUCB": Contender(lin_ucb, "threshold", None, THRESHOLDS),
    "LinTS": Contender(lin_ts, "threshold", None, THRESHOLDS),
    "EpsilonGreedy": Contender(epsilon_greedy, "threshold", None, THRESHOLDS),
}


def play_batches(rounds):
    """Batches of 50, as its example of streaming use has them."""
    policy, rng = LinUCB(10, fit_intercept=False, random_state=1), np.random.default_rng(1)
    contexts, means = np.ones((50, 1)), np.array(MEANS)
    for _ in range(rounds // 50):
        arms = policy.predict(contexts)
        policy.partial_fit(contexts, arms, (rng.normal(means[arms]) >= 19).astype(float))


SPEEDS = {"LinUCB: predict, partial_fit, in batches of 50": (play_batches, 1_000)}

if __name__ == "__main__":
    serve(CONTENDERS, SPEEDS)
