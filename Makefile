# Every target makes the environment that it needs; a second run starts at once.
PYTHON ?= python3
BIN := .venv/bin
TESTS ?= tests
PYTEST := $(BIN)/python -m pytest
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
RUN_READY := .venv/run.stamp
DEV_READY := .venv/dev.stamp

.DEFAULT_GOAL := help
.PHONY: help run test unit contract clients test-slow lint protos protos-check settings-tables spec-coverage \
	fuzz chaos load bench bench-peers lock clean

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

run: $(RUN_READY) ## Serve everything in one process on this machine
	@$(BIN)/pointsman serve $(ARGS)

test: $(DEV_READY) ## Run every test but the slow ones
	$(PYTEST) -m "not slow" -n 2 --dist worksteal $(TESTS) $(ARGS)

unit: $(DEV_READY) ## Run the pure tests
	$(PYTEST) -m "not slow" -n 2 --dist worksteal tests/unit $(ARGS)

contract: $(DEV_READY) ## Run the contract tests: in process, Unix socket and TCP
	$(PYTEST) -m "not slow" tests/contract $(ARGS)

clients: ## Install the real client programs of the slow tests, and buf (needs Node)
	@if command -v npm > /dev/null; then cd tests/clients && npm ci --no-audit --no-fund; \
		else echo "npm is not installed: tests with real clients and buf are skipped"; fi

test-slow: $(DEV_READY) clients ## Run the long campaigns and real client programs
	$(PYTEST) -m slow --timeout 600 tests $(ARGS)

lint: $(DEV_READY) ## Check style, types and imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

protos: $(DEV_READY) ## Regenerate the committed stubs
	$(BIN)/python protos/generate.py

protos-check: $(DEV_READY) ## Fail when the committed stubs are not those of the contract
	$(BIN)/python protos/generate.py --check

settings-tables: $(DEV_READY) ## Write the tables of settings in the READMEs
	$(BIN)/python -m tests.settings_tables

spec-coverage: $(DEV_READY) ## List behaviours of the SPEC.md files that no test cites
	$(BIN)/python -m tests.spec_coverage

fuzz: $(DEV_READY) ## Fuzz every reader of the four dialects: 100,000 inputs each
	$(BIN)/python -m tests.fuzz $(ARGS)

chaos: $(DEV_READY) ## Play random schedules of provider faults through the whole product
	$(BIN)/python -m tests.chaos $(ARGS)

load: $(DEV_READY) ## Hold a thousand paced streams open at once
	$(BIN)/python -m tests.load $(ARGS)

bench: $(DEV_READY) ## Measure this machine: bare proxy, embedded, apart, and peers that are installed
	$(BIN)/python -m tests.bench $(ARGS)

bench-peers: $(DEV_READY) ## Install the peers that the bench compares with, apart from our environment
	$(BIN)/python -m tests.bench.peers $(ARGS)

lock: ## Resolve pyproject.toml into the hashed lock files (needs uv)
	printf 'hatchling>=1.27,<2\n' | $(RESOLVE) --extra all - -o requirements.lock
	$(RESOLVE) --extra dev -c requirements.lock -o requirements-dev.lock

clean: ## Remove what the targets made
	rm -rf .venv .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

RESOLVE := uv pip compile --quiet pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --no-header --upgrade

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or later is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv

$(RUN_READY): requirements.lock pyproject.toml | .venv/bin/python
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(DEV_READY): requirements-dev.lock pyproject.toml | .venv/bin/python
	$(PIP) --require-hashes -r requirements-dev.lock
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@ $(RUN_READY)
