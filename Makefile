# Every target does its own set-up and may be run again at any time.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup packages demo demo-down test test-fast check format imports golden bench bench-failover bench-fleet bench-operator faults faults-nebius docs

BIN := .venv/bin
# Clusters on this machine need root: sudo where there is one and we are not root already.
SUDO := $(if $(filter 0,$(shell id -u)),,$(shell command -v sudo))
AS_ROOT := $(SUDO) env PATH="$(CURDIR)/$(BIN):$$PATH"
SRC := src tests bench scripts

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: .venv/.installed ## install what is missing: Debian packages, .venv, npa itself

packages:
	@bash scripts/packages.sh

.venv/.installed: pyproject.toml | packages
	@bash scripts/venv.sh

demo: setup ## a cluster of 4 nodes on this machine, and a tour of it
	@$(AS_ROOT) bash examples/quickstart/demo.sh

demo-down: setup ## remove the cluster of `make demo`
	@$(AS_ROOT) npa soperator destroy quickstart --yes

test: setup ## the whole suite, with clusters on this machine
	$(AS_ROOT) pytest -n 3 --dist loadscope --no-loadscope-reorder

test-fast: setup ## what needs no clusters, Terraform or API server
	$(BIN)/pytest -n 2 -m "not e2e and not slow"

check: setup imports ## lint, format, types and layers
	$(BIN)/ruff check $(SRC)
	$(BIN)/ruff format --check $(SRC)
	$(BIN)/mypy

format: setup ## put the code into shape
	$(BIN)/ruff check --fix $(SRC)
	$(BIN)/ruff format $(SRC)

imports: setup ## check that imports point down
	$(BIN)/lint-imports

golden: setup ## rewrite the expected files in tests/golden; read the diff
	NPA_GOLDEN=rewrite $(BIN)/pytest -q tests/golden

bench: setup ## measure, and write docs/reference/performance.md
	$(AS_ROOT) python -m bench.run

bench-failover: setup ## measure 20 takeovers by a second controller, in 8 minutes
	$(AS_ROOT) python -m bench.failover

bench-fleet: setup ## measure plans and status of many clusters, in a minute
	$(AS_ROOT) python -m bench.fleet

bench-operator: setup ## measure the operator on a real API server, and write its performance page
	$(BIN)/python -m bench.operator

faults: setup ## make every fault on real clusters, and write docs/reference/faults.md
	$(AS_ROOT) python -m bench.faults

faults-nebius: setup ## kill a deploy at Nebius at every step, and write docs/reference/faults-nebius.md
	$(BIN)/python -m bench.faults_nebius

docs: setup ## write docs/reference from the code
	$(BIN)/python scripts/reference.py
	@$(BIN)/python scripts/charts.py
