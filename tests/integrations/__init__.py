"""Tests with the real packages; without a package its tests are skipped, and say so."""

import os

# for commands of this folder; pytest has it from conftest.py
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
