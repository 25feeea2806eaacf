"""The naive book of sources: every reward is kept, and every source on every arm is
compared with the others in turn.
"""

from __future__ import annotations

import math

import numpy as np

from ironarm.agent.source_book import FIRST, _reference, holm


class NaiveBook:
    """Keeps all rewards, by source and arm; `None` is the account for all others."""

    def __init__(self, arms, most):
        self.arms, self.most = arms, most
        self.rewards = []  # source, arm, reward
        self.names = []

    def add(self, source, arm, x):
        if source not in self.names:
            if len(self.names) == self.most:
                self.make_room()
            self.names.append(source)
        self.rewards.append((source, arm, x))

    def make_room(self):
        sent = [sum(each[0] == name for each in self.rewards) for name in self.names]
        # fewest rewards first, the oldest of equals first
        order = sorted(range(len(self.names)), key=lambda i: (sent[i], i))
        gone = {self.names[i] for i in order[: max(1, self.most // 8)]}
        self.names = [name for name in self.names if name not in gone]
        self.rewards = [(None if s in gone else s, a, x) for s, a, x in self.rewards]

    def counts(self):
        """Return counts of (source, arm, kind), all others first, and the totals."""
        sources = [None, *self.names]
        counts = np.zeros((len(sources), self.arms, 3), int)
        for a in range(self.arms):
            of_arm = [(s, x) for s, arm, x in self.rewards if arm == a]
            if len(of_arm) < FIRST:
                continue
            middle, reach = _reference([x for _, x in of_arm[:FIRST]])
            for s, x in of_arm:
                far = not abs(x - middle) <= reach
                counts[sources.index(s), a] += [1, x > middle, far]
        return counts, [sum(each[0] == s for each in self.rewards) for s in sources]

    def report(self):
        """Return for each source how many rewards, difference, far and chance."""
        counts, total = self.counts()
        first = 0 if total[0] else 1
        difference, chance = judge(counts[first:])
        far = [of[:, 2].sum() / max(of[:, 0].sum(), 1) for of in counts[first:]]
        names = [None, *self.names][first:]
        return {
            name: (total[first + i], difference[i], far[i], chance[i])
            for i, name in enumerate(names)
        }


def kl(p, q):
    first = p * math.log(p / q) if p > 0 else 0.0
    return first + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)


def exponent(n, p, total):
    """Return the supremum over s of s total - sum n log(1 - p + p e^s)."""
    low, high = -40.0, 40.0
    for _ in range(50):
        s = (low + high) / 2
        expected = (n * p * math.exp(s) / (1 - p + p * math.exp(s))).sum()
        low, high = (s, high) if expected < total else (low, s)
    return max(0.0, s * total - (n * np.log1p(p * math.expm1(s))).sum())


def judge(counts):
    """Return the difference and the chance of each source; counts are (source, arm,
    kind).
    """
    sources, arms, _ = counts.shape
    total = counts[:, :, 0].sum(1)
    kept = total > 0
    least = kept.sum() // 2 + 1
    usual = np.median(total[kept]) if kept.any() else 0.0
    cap = [min(1.0, usual / max(t, 1)) for t in total]
    while True:
        logs, difference = np.zeros(sources), np.zeros(sources)
        for i in range(sources):
            rest = np.zeros((arms, 3))
            for j in range(sources):
                if kept[j] and j != i:
                    rest += cap[j] * counts[j]
            share = (rest + 0.5) / (rest[:, :1] + 1.0)
            n, others = counts[i, :, 0], rest[:, 0]
            weight = others / np.maximum(others + n, 1.0)
            known = max((n > 0).sum(), 1)
            both = []
            for kind in (1, 2):
                k = counts[i, :, kind]
                apart = [
                    n[a] * weight[a] * kl(k[a] / n[a], share[a, kind]) if n[a] else 0.0
                    for a in range(arms)
                ]
                pooled = exponent(n * weight, share[:, kind], (k * weight).sum())
                found = min(math.log(2 * known) - max(apart), math.log(2) - pooled)
                both.append(min(0.0, math.log(2) + found))
            logs[i] = math.log(2) + min(both)
            apart = [counts[i, a, 1] - n[a] * share[a, 1] for a in range(arms) if others[a] > 1e-6]
            difference[i] = sum(apart) / max(total[i], 1)
        chance = holm(np.exp(np.minimum(logs, 0.0)))
        sure = kept & (chance < 0.01)
        room = kept.sum() - least
        if room <= 0 or not sure.any():
            return difference, chance
        worst = logs[sure].min()
        out = [i for i in np.argsort(logs) if sure[i] and logs[i] <= worst / 2]
        if len(out) > room:
            # of those that are equal to the first that has to stay, all stay
            stays = logs[out[room]]
            out = [i for i in out if logs[i] < stays * (1 + 1e-6)]
        if not out:
            return difference, chance
        kept[out] = False
