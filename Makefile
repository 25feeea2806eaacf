# `make reproduce` does the main job, `make test` runs every check. Both set up all they need in .venv, from nothing but Python and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

.PHONY: reproduce test bench clean

reproduce: $(READY)
	$(BIN)/ironarm reproduce --out results

test: $(READY)
	$(BIN)/python tests/run_all.py

bench: $(READY)
	$(BIN)/python benchmarks/run_all.py

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) .bench-venv benchmarks/build results
