"""The receiving node: chooses channels with an Agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...agent.agent import Agent
from ...engine.announce import announced_by
from ...engine.machine import machine_for
from ...errors import InvalidInput
from ...naming.own_faults import constants_of
from ...policies import Policy


def compile_policy(policy: Policy, arms: int, say: Callable[[str], None]) -> None:
    """Compile what an `RxAgent` calls; `say` gets a text if it takes long.

    That is less than `Agent.prepare` compiles: arms neither come nor go, for example.
    """
    machine = machine_for(policy, constants_of(policy, arms, None))
    calls = machine.needed(("select", "observe"))
    with announced_by(say), machine.announced(calls):
        for name in calls:
            machine.call(name)


class RxAgent:
    """The receiving node: a policy chooses channels and learns the measured SINRs.

    It never learns whether a packet was jammed. A decision stands until its reward has
    come: a round that is repeated because an ACK was lost keeps its channel and feeds
    nothing.

    Parameters
    ----------
    policy : any policy, for example `ia.MedEUCB(block=200)`.
    means : clean mean SINR of each channel, in dB, configured or calibrated; the regret
        is computed from them.
    seed : of the policy's own random numbers.

    Examples
    --------
    >>> import ironarm as ia
    >>> agent = RxAgent(ia.RUCB(), means=[41, 37, 35, 31, 28], seed=1)
    >>> agent.decide(), agent.decide()
    ((0, 0), (0, 0))
    >>> agent.learn(40.6)
    >>> agent.decide(), agent.regret
    ((1, 1), 0.0)
    """

    def __init__(self, policy: Policy, means: Sequence[float], seed: int) -> None:
        self.means = [float(mean) for mean in means]
        self.agent = Agent(policy, arms=len(self.means), seed=seed)
        self.round = 0
        """The present round, from 0."""
        self.regret = 0.0
        """Sum of best mean - mean of the channel used, in dB, over rewarded rounds."""
        self._best = max(self.means)
        self._channel: int | None = None

    def decide(self) -> tuple[int, int]:
        """Return the present round and its channel; both hold until `learn`."""
        if self._channel is None:
            self._channel = int(self.agent.select())
        return self.round, self._channel

    def learn(self, reward: float) -> None:
        """Feed the reward of the present round, and go on to the next."""
        if self._channel is None:
            raise InvalidInput("there is no decision to reward; call decide() first.")
        self.agent.update(self._channel, float(reward))
        self.regret += self._best - self.means[self._channel]
        self.round, self._channel = self.round + 1, None

    def replay(self, history: Iterable[tuple[int, float]]) -> None:
        """Learn earlier rounds again, so that a restarted receiver resumes.

        `history` has pairs (channel, reward) in order.
        """
        for channel, reward in history:
            number, chosen = self.decide()
            if chosen != channel:
                raise InvalidInput(
                    f"the history does not fit: in round {number} it used channel {channel}, this "
                    f"policy and seed choose {chosen}. Use the same policy and seed."
                )
            self.learn(reward)
