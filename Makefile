# Everything a developer does, by name. `make` alone prints this list.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint type bench notebooks conformance

help: ## Print this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## Make .venv with the locked versions

$(READY): pyproject.toml .ci/requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r .ci/requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

test: setup ## Run every test, real Delta Lake included
	$(BIN)/python -m pytest

lint: setup ## Check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: setup ## Check types
	$(BIN)/mypy
