"""The integrations with agents that a service keeps: a real one, on this machine."""

import asyncio
import random

import pytest

import ironarm as ia
from ironarm.errors import InvalidInput

pytest.importorskip("uvicorn", reason="THE SERVICE IS NOT TESTED: pip install 'ironarm[serve]'")

from tests.service.running import free_port
from tests.service.serving import serving


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """One for all tests, because it takes two seconds to start."""
    with serving(tmp_path_factory.mktemp("service"), keys=True) as running:
        yield running


@pytest.fixture
def client(service):
    with ia.Client(service.url, service.admin) as client:
        yield client


class TestLiteLLM:
    @pytest.fixture
    def mock(self):
        pytest.importorskip(
            "litellm", reason="THE LITELLM STRATEGY IS NOT TESTED: pip install 'ironarm[litellm]'"
        )
        from tests.integrations.mock_deployments import Mock, forget_callbacks

        yield Mock()
        forget_callbacks()

    def test_two_routers_share_an_agent(self, mock, service, client):
        """Every call is one decision of it, with its reward.

        The second Router has a deployment that the first does not know.
        """
        import litellm

        from ironarm.integrations.litellm import RobustRouting
        from ironarm.integrations.model_groups import agent_name
        from tests.integrations.mock_deployments import GROUP, error, mocked_router, until

        async def behave(name):
            if name == "east":
                raise error(litellm.InternalServerError, name)

        mock.behave = behave
        routers = [mocked_router(names) for names in (["east", "west"], ["east", "west", "north"])]
        routings = [
            RobustRouting(service=service.url, key=service.admin).install(each) for each in routers
        ]
        shared = client.agent(agent_name(GROUP))

        async def both():
            failed = sum(await asyncio.gather(*(played(each, 15) for each in routers)))
            await until(lambda: sum(shared.rewards.values()) == 30)
            return failed

        try:
            failed = asyncio.run(both())
        finally:
            for each in routings:
                each.close()
        assert [each.troubles for each in routings] == [0, 0]
        assert shared.decisions == 30
        assert set(shared.arms) == {"east", "west", "north"}
        assert mock.calls.count("east") == failed == shared.rewards["east"]
        assert shared.estimates["east"] == pytest.approx(-1e6)

    def test_without_the_service_requests_go_on(self, mock, monkeypatch):
        """The first finds out that nobody is there; the others do not ask."""
        from ironarm.integrations import litellm as integration
        from ironarm.integrations import upkeep
        from ironarm.integrations.litellm import RobustRouting
        from tests.integrations.mock_deployments import mocked_router

        now = 0.0
        monkeypatch.setattr(integration, "monotonic", lambda: now)
        router = mocked_router()
        routing = RobustRouting(service=f"http://127.0.0.1:{free_port()}").install(router)
        make, asked = routing._groups.make, []
        routing._groups.make = lambda *given: (asked.append(given), make(*given))[1]
        assert asyncio.run(played(router, 5)) == 0
        assert (len(asked), routing.troubles, len(mock.calls)) == (1, 5, 5)
        now += upkeep.REST
        asyncio.run(played(router, 1))
        assert len(asked) == 2
        routing.close()

    @pytest.mark.parametrize(
        "options",
        [
            {"path": "x", "service": "http://127.0.0.1:1"},
            {"key": "ia_x"},
            {"agent": lambda group, ids: None, "service": "http://127.0.0.1:1"},
            {"service": "no address"},
        ],
    )
    def test_agents_are_in_one_place(self, mock, options):
        """Options that contradict each other are refused."""
        from ironarm.integrations.litellm import RobustRouting

        with pytest.raises(InvalidInput):
            RobustRouting(**options)


async def played(router, requests):
    """Make requests one after the other; return how many failed."""
    import litellm

    from tests.integrations.mock_deployments import ASK, GROUP

    failed = 0
    for _ in range(requests):
        try:
            await router.acompletion(GROUP, ASK)
        except litellm.InternalServerError:
            failed += 1
    return failed


def test_a_flag_asks_the_service(client):
    """OpenFeature's calls, an agent elsewhere: the flag finds the better variant."""
    pytest.importorskip(
        "openfeature", reason="OPENFEATURE IS NOT TESTED: pip install 'ironarm[openfeature]'"
    )
    from openfeature import api
    from openfeature.evaluation_context import EvaluationContext
    from openfeature.track import TrackingEventDetails

    from ironarm.integrations.openfeature import AgentProvider

    agent = client.create("checkout", arms=["short", "long"], seed=1)
    provider = AgentProvider({"checkout": agent}, events={"checkout": "purchase"})
    api.set_provider_and_wait(provider)
    world = random.Random(1)
    try:
        for i in range(40):
            user = EvaluationContext(f"user {i}")
            variant = api.get_client().get_string_value("checkout", "none", user)
            spent = world.gauss({"short": 1.0, "long": 3.0}[variant], 0.3)
            api.get_client().track("purchase", user, TrackingEventDetails(value=spent))
    finally:
        api.shutdown()
        api.clear_providers()
    assert agent.best() == "long"
    assert sum(agent.rewards.values()) == agent.decisions == 40
    assert provider.troubles == provider.unmatched == 0
