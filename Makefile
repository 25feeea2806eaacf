# `make reproduce` does the main job, `make test` runs every check. Both set up all they need in .venv, from nothing but Python and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
# Where the system turns bytecode files off, each of the hundreds of processes of a test
# run would compile NumPy and Numba anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: reproduce test quick lowest hooks bench docs objects dist clean

reproduce: $(READY)
	$(BIN)/ironarm reproduce --out results

# It keeps compiled code beside the user's own, in ~/.cache/ironarm-test or so; with COLD=1 it
# begins with none, as on a new machine.
test: $(READY)
	$(BIN)/python tests/run_all.py

# before a commit: the checks that take seconds, and the tests that the change touches
quick: $(READY)
	$(BIN)/python tests/quick.py

# a part of `make test`: the lowest versions that pyproject.toml names
lowest: $(READY)
	$(BIN)/python tests/lowest.py

# the same checks before each commit, by git itself (.pre-commit-config.yaml)
hooks: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pre-commit
	$(BIN)/pre-commit install

# the site, into site/: open site/index.html, or `python -m http.server -d site` for its search
docs: $(READY)
	$(BIN)/python docs/make/website.py

# the machine code of all policies and attacks, into src/ironarm/engine/shipped/: what is
# missing, on all processors. Without it, each use compiles what it needs
objects: $(READY)
	$(BIN)/python release/objects.py

# into dist/: the wheel with machine code, one without for other systems, and the source
# distribution
dist: objects
	rm -rf dist
	$(BIN)/python -m uv build --quiet --out-dir dist
	IRONARM_WHEEL=platform $(BIN)/python -m uv build --quiet --wheel --out-dir dist
	ls -l dist

bench: $(READY)
	$(BIN)/python benchmarks/run_all.py

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) .venv-lowest .bench-venv benchmarks/build build dist site results src/ironarm/engine/shipped
