"""A little of everything, for environments whose versions matter: tests/lowest.py runs
it on the lowest ones that pyproject.toml names.

Beside it, tests/agent_files is run there, with agents of every policy, and
tests/engine/test_jit.py.
"""

import json
import os
import re

import numpy as np
import pytest

import ironarm as ia
from ironarm.cli import main
from tests.every_policy import EVERY_POLICY
from tests.naive import play

PLAIN = os.environ.get("NUMBA_DISABLE_JIT") == "1"
compiled = pytest.mark.skipif(PLAIN, reason="needs compiled code")

# without the JIT, NumPy's scalars warn where compiled integers wrap round
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in scalar:RuntimeWarning")

BANDIT = ia.GaussianBandit([0.0, 0.5, 1.0])
ATTACK = ia.OppositeUniform(rho=0.1, scale=20)
SEED = 11
LOOPS = ("MedEUCB", "EXP3")
POLICIES = [policy for policy in EVERY_POLICY if PLAIN or type(policy).__name__ in LOOPS]
"""All of them as plain Python. Compiled, a few: a loop takes Numba five seconds."""
TWO_POLICIES = "policies = ['MedEUCB(b=1, block=100)', 'EpsilonGreedy']"


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_a_simulation_is_that_of_the_naive_twin(policy):
    """It pulls the same arms: every policy as plain Python, some compiled."""
    horizon = 120
    choices, _ = play(policy, BANDIT, ATTACK, horizon, SEED, 0)
    result = ia.simulate(policy, BANDIT, ATTACK, horizon=horizon, trials=1, seed=SEED)
    assert result.pulls[0, 0].tolist() == np.bincount(choices, minlength=3).tolist()


@compiled
def test_a_study_of_the_radio(tmp_path, request):
    """Signals through compiled kernels, cells, claims, figures and the page."""
    study = request.path.parent / "lab" / "studies" / "small_radio"
    assert main(["reproduce", "--study", str(study), "--out", str(tmp_path)]) == 0
    assert "<svg" in (tmp_path / "report.html").read_text()
    assert json.loads((tmp_path / "report.json").read_text())["claims"]


@compiled
@pytest.mark.parametrize("where", [["--workers", "2"], ["--dask", "--workers", "2"]])
def test_a_sweep(where, tmp_path):
    """In processes, ours and Dask's; the tables are Parquet."""
    import pyarrow.parquet

    settings = "rho = 0.1\nmeans = [0, 1]\nhorizon = 300\ntrials = 2\nseed = 7\n"
    file, out = tmp_path / "sweep.toml", tmp_path / "out"
    file.write_text(f"{TWO_POLICIES}\nattacks = ['OppositeUniform(scale=20)']\n{settings}")
    assert main(["sweep", str(file), *where, "--out", str(out)]) == 0
    tables = [pyarrow.parquet.read_table(path) for path in sorted(out.glob("*.parquet"))]
    assert tables
    assert all(table.num_rows for table in tables)


@compiled
def test_a_recording_of_the_radio(tmp_path):
    """SigMF's own reader accepts it."""
    sigmf = pytest.importorskip("sigmf")
    assert main(["radio", "record", "--out", str(tmp_path), "--rounds", "2"]) == 0
    found = sigmf.fromfile(str(tmp_path / "testbed.sigmf-meta"))
    found.validate()
    assert len(found.get_annotations()) >= 2


@compiled
def test_the_radio_as_processes(capsys):
    """Over ZeroMQ."""
    options = ["--processes", "--rounds", "20", "--policy", "EpsilonGreedy", "--json"]
    assert main(["radio", "run", *options]) == 0
    assert len(json.loads(capsys.readouterr().out)["rounds"]["missed"]) == 20


def test_a_certificate():
    """From laws of scipy."""
    from scipy import stats

    bandit = ia.ScipyBandit([stats.gamma(3), stats.norm(1)])
    assert "MedEUCB" in str(ia.certify(bandit, rho=0.05, horizon=10_000))


@compiled
def test_a_result(tmp_path, capsys):
    """Summary, plot, save and load."""
    policies = [ia.MedEUCB(), ia.EpsilonGreedy()]
    result = ia.simulate(policies, BANDIT, ATTACK, horizon=200, trials=3, seed=SEED)
    assert "MedEUCB" in str(result.summary())
    result.save(tmp_path / "result.npz")
    assert np.array_equal(ia.Result.load(tmp_path / "result.npz").regret, result.regret)
    result.plot(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size > 1000


def test_a_frame():
    """Of Arrow, also with names that repeat, and as a stream."""
    import pyarrow

    names = ["Arm", "reward", "other", "other"]
    table = pyarrow.table([["x", "y"], [1.0, 4.0], [0, 0], [0, 0]], names=names)
    for frame in (table, table.select(["Arm", "reward"]), table.to_reader()):
        assert ia.ReplayBandit(frame).means.tolist() == [1.0, 4.0]


@compiled
def test_the_service(tmp_path):
    """A real node with a key: decide, reward, summary, counts, page with its login."""
    import httpx

    from ironarm.service.keys import make_key
    from ironarm.service.location import StoreLocation
    from tests.service.running import ask, running

    place = StoreLocation(tmp_path)
    store = place.open(create=True)
    key = make_key(store, "test", ["admin"])
    store.close()
    with running(place) as node:
        body = {"arms": ["a", "b"], "policy": "EpsilonGreedy"}
        assert ask(node.port, "PUT", "/v1/agents/ads", body, key)[0] == 201
        decision = ask(node.port, "POST", "/v1/agents/ads/decisions", key=key)[1]
        path = f"/v1/decisions/{decision['id']}/reward"
        assert ask(node.port, "PUT", path, {"value": 1.5}, key)[0] == 200
        assert ask(node.port, "PUT", path, {"value": "x"}, key)[0] == 422
        assert ask(node.port, "GET", "/v1/agents/ads", key=key)[1]["decisions"] == 1
        assert b"ironarm_commits_total" in ask(node.port, "GET", "/metrics", key=key)[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{node.port}") as browser:
            assert browser.get("/agents/ads").status_code == 303
            form = re.search(r'name="form" value="(.+?)"', browser.get("/login").text)[1]
            assert browser.post("/login", data={"key": key, "form": form}).status_code == 303
            assert browser.get("/agents/ads").status_code == 200


@compiled
def test_the_service_on_postgresql():
    """The driver, where there is a database."""
    from ironarm.service.location import StoreLocation
    from tests.service.database import postgres
    from tests.service.running import ask, running

    with postgres() as url:
        if url is None:
            pytest.skip("PostgreSQL is not installed")
        with running(StoreLocation(database=url)) as node:
            body = {"arms": ["a", "b"], "policy": "EpsilonGreedy"}
            assert ask(node.port, "PUT", "/v1/agents/ads", body)[0] == 201
            assert ask(node.port, "POST", "/v1/agents/ads/decisions")[0] == 201


@compiled
def test_a_flag_of_openfeature():
    """A decision and its reward through the SDK."""
    openfeature = pytest.importorskip("openfeature.api")
    from openfeature.evaluation_context import EvaluationContext
    from openfeature.track import TrackingEventDetails

    from ironarm.integrations.openfeature import AgentProvider

    agent = ia.Agent(ia.EpsilonGreedy(), arms=["a", "b"], seed=SEED)
    openfeature.set_provider_and_wait(AgentProvider({"flag": agent}))
    client, user = openfeature.get_client(), EvaluationContext("user")
    assert client.get_string_value("flag", "none", user) == "a"
    client.track("flag", user, TrackingEventDetails(1.0))
    assert sum(agent.rewards.values()) == 1
    openfeature.clear_providers()
