# Holdfast. The text behind "##" is what `make help` prints.

PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= 2
WAITERS ?= 3
STORE   ?= sqlite
BIN     := $(VENV)/bin
READY   := $(VENV)/.ready
STAMP   := $(VENV)/.installed
RUN     := requirements/run.txt
LOCK    := requirements/lock.txt
UV      := uv==0.13.7

# These must be covered to the last branch.
GATED := src/holdfast/model/*,src/holdfast/store/*,src/holdfast/engine/leases.py,src/holdfast/engine/repairs.py
COVERED := $(addprefix tests/,app cli engine http joins kit model moving signals store upkeep webhooks worker)
APART := $(addprefix tests/,bench demo docs house_rules mutants pipelines)
FAST  := $(wildcard tests/model tests/store tests/house_rules)

.DEFAULT_GOAL := help
.PHONY: help run demo test check lint format bench chaos docs lock clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' Makefile

run: $(READY)  ## Start Holdfast with the demo application and its dashboard, until Ctrl-C
	@$(BIN)/python -m demo run

demo: $(READY)  ## Do the same work as run, print a summary and end
	@$(BIN)/python -m demo finish

test: lint  ## Everything: linters, all tests, coverage gates
	@tools/ensure_browser.sh
	@$(BIN)/python -m tests.servers
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -m "not slow" -n $(WORKERS) $(COVERED)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --include='$(GATED)' --fail-under=100
	$(BIN)/python -m pytest -m "not slow" -n $(WORKERS) $(APART)
	$(BIN)/python -m pytest -m slow -n $(WAITERS)

check: lint  ## Before each commit: linters, house rules, fast tests; under a minute
	$(BIN)/python -m pytest -q -m "not slow" -n $(WORKERS) -k "not postgres and not sqlite3" $(FAST)

lint: $(STAMP)  ## Format check, ruff, mypy, import direction
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)  ## Format the code and apply the safe repairs of the linter
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)  ## Measure ours and the peers in turn, against the targets; an hour. STORE=postgres: on PostgreSQL
	$(BIN)/python -m bench --store $(STORE)

chaos: $(STAMP)  ## Kill real processes and count what was lost; plant every seeded bug
	HOLDFAST_STRICT=1 HOLDFAST_MUTANTS=all $(BIN)/python -m pytest tests/stories tests/worker tests/store/test_limits_crowd.py tests/mutants

docs: $(STAMP)  ## Write the generated pages anew
	$(BIN)/python tools/generate_docs.py

COMPILE := $(VENV)-lock/bin/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-emit-package holdfast --no-config --custom-compile-command "make lock" --quiet

# uv ignores pip's settings, so no address of a private registry can slip into the lock file.
lock:  ## Renew requirements/lock.txt and run.txt from pyproject.toml
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet $(UV)
	$(COMPILE) --extra dev --upgrade --output-file $(LOCK)
	$(COMPILE) --extra demo --constraint $(LOCK) --upgrade --output-file $(RUN)

clean:  ## Remove the virtual environment and all caches
	rm -rf $(VENV) $(VENV)-lock .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	rm -rf dist htmlcov .coverage .coverage.*

# What the demo needs comes first, and is all that `make run` waits for; the other commands add the rest.
$(READY): $(RUN) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Holdfast needs Python 3.11 or newer. Try: make PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python tools/install.py $(RUN) "about 120 MB: well under a minute on a good line"
	@touch $(READY)

$(STAMP): $(LOCK) $(READY)
	@$(BIN)/python tools/install.py $(LOCK) "about 600 MB with tests and linters: a minute or two on a good line"
	@touch $(STAMP)
