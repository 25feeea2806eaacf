"""Other bandit libraries beside ironarm: speed, and regret under the paper's attack.

Each peer is in a virtual environment of its own under .bench-venv (they need different
NumPys), pinned. What it plays there, and how, stands in peer_players, a file each.

Speed: UCB or what a peer has nearest to it, as its own documentation shows, K = 10
Gaussian arms, no attack. A peer plays as many rounds as take a second or two; the
shortest CPU time per round of three such runs counts. Before and after each peer
ironarm plays too, so that both meet the same machine. None of them does exactly
ironarm's work (some record every reward, ironarm records regret at checkpoints): the
table says how far apart they are, not more.

Behaviour: the paper's ten arms, without attack and under OppositeUniform, 2,000 rounds.
ironarm draws the rewards and coins and writes what each arm would show in each round
into a table; all peers play these tables, and ironarm's policies the same rewards. Each
policy plays with its own defaults, and with its most important parameter tuned for
each attack, on trials of other seeds. ironarm's policies are not tuned.

What is measured is kept in benchmarks/build/peers, so you can interrupt this and start
it again; --fresh measures all of it anew. A whole run writes benchmarks/peers.json and
the tables of docs/peers.md. --speed measures and writes the first table only. --quick
has fewer and shorter trials and no tuning, and writes nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import ironarm as ia
from ironarm.engine.streams import streams
from ironarm.engine.tape import Tape
from ironarm.files import write_whole
from ironarm.simulation.result import STUCK_BELOW
from ironarm.simulation.summary import bootstrap_interval
from measure import PAPER_MEANS, alternate
from peer_players.playing import cost
from peer_process import PROGRAMS, Peer, PeerFailed, Player, PolicyFailed
from peer_tables import PAGE, RECORD, recorded, tables, written
from this_machine import machine

BUILD = Path(__file__).resolve().parent / "build" / "peers"
SEED, TUNING_SEED = 1, 2
PEERS = [
    Peer("river", ("river==0.26.1", "numpy==2.4.6"), "play_river.py", tuning_trials=10),
    Peer("PyMAB", ("pymab==2.0.1", "numpy==2.4.6"), "play_pymab.py"),
    Peer(
        "SMPyBandits",
        ("SMPyBandits==0.9.7", "numpy==1.23.5", "scipy==1.9.3"),
        "play_smpybandits.py",
    ),
    Peer("MABWiser", ("mabwiser==2.7.4", "numpy==2.4.6"), "play_mabwiser.py"),
    Peer(
        "contextualbandits",
        ("contextualbandits==0.3.30", "numpy==2.4.6"),
        "play_contextualbandits.py",
        trials=3,
        tuning_trials=1,
    ),
    Peer(
        "bayesianbandits",
        ("bayesianbandits==1.5.0", "numpy==2.4.6"),
        "play_bayesianbandits.py",
        trials=3,
        tuning_trials=1,
    ),
]
OURS = [ia.CoherentIMED(), ia.MedEUCB(), ia.UCB()]


@dataclass(frozen=True)
class Setting:
    """An attack on the paper's bandit, and how long it is played."""

    rho: float
    rounds: int

    @property
    def label(self) -> str:
        """The setting as the head of a column."""
        return f"rho = {self.rho:g}" if self.rho else "no attack"

    @property
    def attack(self) -> ia.OppositeUniform:
        """The attack; with rho = 0 it never comes."""
        return ia.OppositeUniform(rho=self.rho, scale=1800)

    def table(self, seed: int, trials: int) -> Path:
        """Return the file of what each arm shows in each round of each trial."""
        path = BUILD / f"table-{self.rho:g}-{self.rounds}-{seed}-{trials}.npy"
        if not path.exists():
            partial = path.with_suffix(".partial.npy")
            np.save(partial, rewards_shown(self, seed, range(trials)))
            partial.replace(path)
        return path


def rewards_shown(setting: Setting, seed: int, trials: range) -> np.ndarray:
    """Return what each arm would show: an array (trial, round, arm).

    The numbers are those that `ironarm.simulate` draws for the same seed and trials.
    """
    bandit, attack = ia.GaussianBandit(means=PAPER_MEANS), setting.attack
    location, scale = bandit.location_scale
    scene = SimpleNamespace(best=int(np.argmax(location)), scale=attack.scale)
    tape = Tape(setting.rounds, setting.rho, normal=True)
    shown = np.empty((len(trials), setting.rounds, bandit.arms))
    for i, trial in enumerate(trials):
        tape.rewind(*streams(seed, trial, 5)[:2])
        noise, coin, draws = tape.next(setting.rounds)
        shown[i] = location + scale * noise[:, None]
        for t in np.flatnonzero(coin):
            u, v = draws[3 * t + 1], draws[3 * t + 2]
            shown[i, t] = [attack.corrupt(scene, a, x, u, v) for a, x in enumerate(shown[i, t])]
    return shown


class Kept:
    """What was measured, kept in a file from one run to the next: a line each."""

    def __init__(self, path: Path, fresh: bool) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if fresh:
            path.unlink(missing_ok=True)
        self._path, self._found = path, dict[str, Any]()
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                self._found.update(json.loads(line))
            except ValueError:  # the line that an interrupted run was writing
                continue

    def get(self, player: Player, peer: Peer, what: str, **details: Any) -> Any:
        """Return the peer's answer, asked for if it is not kept.

        PolicyFailed if the answer is an error, which is kept too.
        """
        program = (PROGRAMS / peer.program).read_bytes() + (PROGRAMS / "playing.py").read_bytes()
        key = json.dumps(
            [peer.pins, hashlib.sha256(program).hexdigest()[:16], what, details], sort_keys=True
        )
        if key not in self._found:
            try:
                answer = {"answer": player.ask(what, **details)}
            except PolicyFailed as error:
                answer = {"failed": str(error)}
            self._found[key] = answer
            with self._path.open("a") as file:
                file.write("\n" + json.dumps({key: answer}) + "\n")
        if "failed" in self._found[key]:
            raise PolicyFailed(self._found[key]["failed"])
        return self._found[key]["answer"]

    def speed(self, key: str) -> Any:
        """Return a kept speed, or None."""
        return self._found.get(key)

    def keep(self, key: str, value: Any) -> None:
        """Keep something under a key."""
        self._found[key] = value
        with self._path.open("a") as file:
            file.write("\n" + json.dumps({key: value}) + "\n")


def say(text: str) -> None:
    """Print a line of progress."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def speed_rows(kept: Kept, seconds: float) -> list[dict[str, Any]]:
    """Measure speed; return a row for each peer and what it plays."""
    bandit = ia.GaussianBandit(means=PAPER_MEANS)

    def simulate() -> ia.Result:
        return ia.simulate(
            ia.UCB(), bandit, horizon=100_000, trials=20, seed=1, workers=1, progress=False
        )

    def ironarm() -> float:
        return alternate({"ironarm": simulate}, 5)["ironarm"] / 2_000_000 * 1e9

    rows: list[dict[str, Any]] = []
    for peer in PEERS:
        with Player(peer) as player:
            try:
                for plays in player.ask("speeds"):
                    # of this day: the page has one date, and machines change
                    key = f"speed {time.strftime('%Y-%m-%d')} {peer.pins} {plays} {seconds}"
                    if kept.speed(key) is None:
                        say(f"speed: {peer.label}, {plays}")
                        before = ironarm()
                        ns = player.ask("cost", plays=plays, seconds=seconds)
                        kept.keep(key, {"ns": ns, "ironarm": min(before, ironarm())})
                    rows.append({"package": peer.label, "plays": plays, **kept.speed(key)})
            except PeerFailed as error:
                print(f"\n{peer.label} is skipped: it cannot be installed or run here ({error}).")
    least = min((row["ironarm"] for row in rows), default=ironarm())
    own = {"UCB in simulate": least, "UCB in an Agent: select, update": agent_cost(seconds)}
    package = f"ironarm {ia.__version__}"
    return [
        *({"package": package, "plays": k, "ns": ns, "ironarm": least} for k, ns in own.items()),
        *rows,
    ]


def agent_cost(seconds: float) -> float:
    """Return the nanoseconds of a decision and its reward, live, as the peers do it."""

    def play(rounds: int) -> None:
        agent = ia.Agent(ia.UCB(), arms=10, seed=1)
        for _ in range(rounds):
            arm = agent.select()
            agent.update(arm, random.gauss(2 * arm + 2, 1))

    return cost(play, 10_000, seconds)


def summary(regret: np.ndarray, stuck: np.ndarray, value: float | None) -> dict[str, Any]:
    """Return the numbers of a cell."""
    low, high = bootstrap_interval(regret)
    return {
        "mean": round(float(regret.mean()), 1),
        "low": round(float(low), 1),
        "high": round(float(high), 1),
        "stuck": float(stuck.mean()),
        "value": value,
    }


def own_rows(settings: list[Setting], trials: int) -> list[dict[str, Any]]:
    """Return the rows of ironarm's policies."""
    results = [
        ia.simulate(
            OURS,
            ia.GaussianBandit(means=PAPER_MEANS),
            setting.attack,
            horizon=setting.rounds,
            trials=trials,
            seed=SEED,
            workers=1,
            progress=False,
        )
        for setting in settings
    ]
    return [
        {
            "package": f"ironarm {ia.__version__}",
            "policy": policy.label,
            "parameter": None,
            "trials": trials,
            "default": [summary(r.regret[i, :, -1], r.stuck[i], None) for r in results],
            "tuned": [],
        }
        for i, policy in enumerate(OURS)
    ]


def least(regrets: dict[float, float], grid: list[float]) -> float:
    """Return the value of least regret; of nearly equal ones, one inside the grid.

    >>> least({1: 91.0, 2: 91.5, 3: 300.0}, [1, 2, 3])
    2
    >>> least({1: 50.0, 2: 91.5, 3: 300.0}, [1, 2, 3])
    1
    """
    near = [value for value in grid if regrets.get(value, np.inf) <= 1.01 * min(regrets.values())]
    return next((value for value in near if value not in (grid[0], grid[-1])), near[0])


class Behaviour:
    """One peer's policies on the tables."""

    def __init__(self, peer: Peer, player: Player, kept: Kept, settings: list[Setting]) -> None:
        self._peer, self._player, self._kept, self._settings = peer, player, kept, settings

    def played(self, policy: str, value: float, setting: Setting, seed: int, trials: int) -> Any:
        """Return regret and the best arm's share of the last tenth, a row a trial."""
        table = str(setting.table(seed, max(20, trials)))
        details = {"policy": policy, "value": value, "table": table}
        return np.array(
            [
                self._kept.get(self._player, self._peer, "play", trial=trial, **details)
                for trial in range(trials)
            ]
        )

    def cell(self, policy: str, value: float, setting: Setting, trials: int) -> dict[str, Any]:
        """Return how the policy did with this value."""
        say(f"behaviour: {self._peer.label}, {policy}, {value:g}, {setting.label}")
        try:
            played = self.played(policy, value, setting, SEED, trials)
        except PolicyFailed as error:
            return {"failed": str(error), "value": value}
        return summary(played[:, 0], played[:, 1] < STUCK_BELOW, value)

    def best(self, policy: str, grid: list[float], setting: Setting, trials: int) -> float:
        """Return the value with the least regret on the tuning trials."""
        regrets: dict[float, float] = {}
        for value in grid:
            say(f"tuning: {self._peer.label}, {policy}, {value:g}, {setting.label}")
            try:
                played = self.played(policy, value, setting, TUNING_SEED, trials)
                regrets[value] = float(played[:, 0].mean())
            except PolicyFailed:
                continue
        return least(regrets, grid) if regrets else grid[0]

    def rows(self, trials: int, tuning_trials: int) -> list[dict[str, Any]]:
        """Return the row of each policy; without tuning trials nothing is tuned."""
        found = []
        for contender in self._kept.get(self._player, self._peer, "contenders"):
            policy, default, grid = (contender[k] for k in ("policy", "default", "grid"))
            row = {"package": self._peer.label, "policy": policy, "trials": trials}
            row |= {"parameter": contender["parameter"], "default": [], "tuned": []}
            for setting in self._settings:
                if default is not None:
                    row["default"].append(self.cell(policy, default, setting, trials))
                if tuning_trials and grid:
                    value = self.best(policy, grid, setting, tuning_trials)
                    cell = self.cell(policy, value, setting, trials)
                    row["tuned"].append({**cell, "edge": value in (grid[0], grid[-1])})
            found.append(row)
        return found


def behaviour_rows(kept: Kept, settings: list[Setting], quick: bool) -> list[dict[str, Any]]:
    """Return the rows of all policies."""
    rows = own_rows(settings, 3 if quick else 20)
    for peer in PEERS:
        with Player(peer) as player:
            try:
                behaviour = Behaviour(peer, player, kept, settings)
                trials = 2 if quick else peer.trials
                rows += behaviour.rows(trials, 0 if quick else peer.tuning_trials)
            except PeerFailed as error:
                print(f"\n{peer.label} is skipped: it cannot be installed or run here ({error}).")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="short trials, no tuning, no record")
    parser.add_argument("--speed", action="store_true", help="speed only; the rest stays")
    parser.add_argument("--fresh", action="store_true", help="measure all anew")
    chosen = parser.parse_args()
    kept = Kept(BUILD / "kept.jsonl", chosen.fresh)
    settings = [Setting(rho, 200 if chosen.quick else 2000) for rho in (0.0, 0.125, 0.3)]
    record = {
        "speed": speed_rows(kept, 0.2 if chosen.quick else 2.0),
        "settings": [{"label": setting.label, "rounds": setting.rounds} for setting in settings],
        "behaviour": (
            recorded()["behaviour"]
            if chosen.speed
            else behaviour_rows(kept, settings, chosen.quick)
        ),
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine(),
    }
    titles = {
        "speed": "Packaged peers, K = 10, Gaussian, no attack",
        "defaults": f"Mean regret after {settings[0].rounds:,} rounds, with defaults",
        "tuned": f"Mean regret after {settings[0].rounds:,} rounds, tuned for each attack",
    }
    for name, lines in tables(record).items():
        if name == "speed" or not chosen.speed:
            print(f"\n### {titles[name]}\n\n" + "\n".join(lines), flush=True)
    if not chosen.quick:
        write_whole(RECORD, (json.dumps(record, indent=1) + "\n").encode())
        write_whole(PAGE, written(PAGE.read_text(encoding="utf-8"), record).encode())


if __name__ == "__main__":
    main()
