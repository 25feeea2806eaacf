"""Settings for all tests and for the examples in docstrings and documentation."""

import os

import pytest
from hypothesis import settings

# importing LiteLLM fetches a list of prices, unless it is told to use its own copy
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

# the same examples in every run, and no deadline: a test fails because of the code,
# never because of the day or a busy machine
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True, scope="session")
def nothing_said_of_compiling():
    """Keep from standard error what depends on what was compiled before."""
    from ironarm.engine import announce

    with announce.announced_by(lambda _: None):
        yield


@pytest.fixture(autouse=True, scope="session")
def one_compiler():
    """Let no simulation start a second process that compiles.

    Steps of `make test` run side by side, so no processor is idle, and the second
    process would compile helpers again that this one has. Simulations in processes of
    their own start it as ever.
    """
    from ironarm.engine import warm

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warm, "_start", lambda *_: [])
        yield
