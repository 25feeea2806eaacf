"""Settings for all tests and for the examples in docstrings and documentation."""

import os

from hypothesis import settings

# importing LiteLLM fetches a list of prices, unless it is told to use its own copy
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

# the same examples in every run, and no deadline: a test fails because of the code,
# never because of the day or a busy machine
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
