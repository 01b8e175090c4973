# Everything a developer does, by name. `make` alone prints this list.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
READY := $(VENV)/.ready
PIP_INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check
# uv takes seconds where pip takes a minute. Where it fails, as behind an index that only pip's own
# settings name, pip does it.
INSTALL := @install() { $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps "$$@" 2> /dev/null \
	|| $(PIP_INSTALL) --no-compile --no-deps "$$@"; }; install
# On all cores; not what nothing here imports. A package may hold files that are not for this Python.
COMPILE := -$(BIN)/python -m compileall -qq -j 0 -x '/(tests|pip|setuptools|fontTools|lexers|mypyc?|debugpy)/' $(VENV)/lib engine sim scenarios reports whitecap
MOTO := .venv-moto/bin/moto_server
UV := 0.13.9
DELTA_RS := 1.6.6
DELTA_RS_PYTHON := .venv-deltalake-$(DELTA_RS)/bin/python
DELTA_3_3 := .venv-delta-3.3.2
DEMO := out/demo
FREE_RUN := out/validate-real
COMPACTION := out/optimize
CASES := tests/conformance/cases
SITE_SOURCE := build/site-source
SITE := out/site

.DEFAULT_GOAL := help
.PHONY: help setup demo test properties test-cluster lint type bench bench-memory bench-sweep bench-aggregation validate validate-real chaos mutants notebooks conformance documented docs answers outputs real-engines

help: ## Print this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

setup: $(READY) ## Make .venv with the locked versions

$(RUNS): pyproject.toml .ci/run.lock
	$(PYTHON) -m venv $(VENV)
	-$(PIP_INSTALL) uv==$(UV)
	$(INSTALL) -r .ci/run.lock
	$(INSTALL) --no-build-isolation -e .
	$(COMPILE)
	touch $(RUNS)

$(READY): $(RUNS) .ci/requirements.lock
	$(INSTALL) -r .ci/requirements.lock
	$(COMPILE)
	touch $(READY)

# The second sweep is a small one: it is done before a JVM has warmed up.
demo: $(RUNS) ## Sweep, replay what the answer names on real Delta Lake, draw the report, ask when to compact (minutes)
	$(BIN)/whitecap sweep scenarios/events.yaml --out $(DEMO)
	$(BIN)/whitecap replay $(DEMO)
	$(BIN)/whitecap report $(DEMO)
	$(BIN)/whitecap sweep scenarios/optimize.yaml --engine processes --out $(COMPACTION)

# Two workers have two cores: threads of linear algebra beside them only wait for each other.
test: setup ## Run every test, real Delta Lake included
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest

properties: setup ## Look for new counterexamples to every property, and longer at intervals (minutes)
	HYPOTHESIS_PROFILE=new $(BIN)/python -m pytest -m "hypothesis or simulated"

test-cluster: setup $(MOTO) ## Sweep on a Spark cluster into S3, both on this machine (minutes)
	MOTO_SERVER=$(CURDIR)/$(MOTO) $(BIN)/python -m pytest -n 0 -m cluster tests/cluster

$(MOTO):
	$(PYTHON) -m venv .venv-moto
	.venv-moto/bin/pip install --quiet --disable-pip-version-check 'moto[server]==5.2.5'

lint: setup ## Check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: setup ## Check types
	$(BIN)/mypy

bench: setup ## Measure CPU per commit attempt in bare SimPy timeouts; writes docs/speed.md
	$(BIN)/python -m benchmarks

bench-memory: setup ## Measure by how much memory grows with every commit attempt (minutes)
	$(BIN)/python -m benchmarks.memory

bench-sweep: setup ## Measure what sweeps reach of plain processes (minutes)
	setsid --wait $(BIN)/python -m benchmarks.sweeps

bench-aggregation: setup ## Measure the aggregation of ten million recorded transactions (minutes)
	setsid --wait $(BIN)/python -m benchmarks.aggregation

validate: setup ## Hold the simulator to laws and to models of others; writes docs/validation.md
	setsid --wait $(BIN)/python -m benchmarks.validation

validate-real: setup ## Predict a free run on real Delta Lake, then let it run (half an hour)
	-$(BIN)/whitecap validate --real --overwrite --out $(FREE_RUN)
	$(BIN)/python -m benchmarks.validation.free_run $(FREE_RUN)/result.json

chaos: setup ## A campaign over all shipped scenarios; writes its result into docs/chaos.md (MINUTES=30 SEED=1 ROWS_EVERY=100)
	$(BIN)/python -m benchmarks.chaos $(or $(MINUTES),30) $(or $(SEED),1) $(ROWS_EVERY)

notebooks: setup ## Open the notebooks
	$(BIN)/jupyter lab notebooks

outputs: setup ## Run the notebooks and store what comes out (minutes)
	$(BIN)/python -m tests.notebooks.storing

conformance: setup $(DELTA_RS_PYTHON) $(DELTA_3_3)/bin/whitecap ## Run all conformance cases on the engine, on real Delta Lakes and delta-rs
	$(BIN)/whitecap conformance $(CASES)/*.json
	$(BIN)/whitecap conformance --engine spark $(CASES)/*.json
	$(DELTA_3_3)/bin/whitecap conformance --engine spark $(CASES)/delta_3_3.json
	$(BIN)/whitecap conformance --engine deltalake $(CASES)/delta_rs_1_6_3.json
	$(BIN)/whitecap conformance --engine deltalake --python $(DELTA_RS_PYTHON) $(CASES)/delta_rs_1_6_6.json

$(DELTA_RS_PYTHON):
	$(PYTHON) -m venv .venv-deltalake-$(DELTA_RS)
	.venv-deltalake-$(DELTA_RS)/bin/pip install --quiet --disable-pip-version-check 'deltalake==$(DELTA_RS)' 'pyarrow==26.0.1'

$(DELTA_3_3)/bin/whitecap:
	$(PYTHON) -m venv $(DELTA_3_3)
	$(DELTA_3_3)/bin/pip install --quiet --disable-pip-version-check -e . 'pyspark==3.5.3' 'delta-spark==3.3.2'

mutants: setup ## Plant bugs, one at a time, and hunt each by the same campaign; writes docs/mutants.md
	setsid --wait $(BIN)/python -m benchmarks.mutants

documented: setup ## Write what is generated from the models: the scenario schema, the page of keys
	$(BIN)/whitecap schema --out scenarios/scenario.schema.json
	$(BIN)/whitecap schema --markdown --out docs/scenario-keys.md

docs: setup ## Build the documentation as a site, in out/site
	rm -rf $(SITE_SOURCE) && mkdir -p $(SITE_SOURCE)
	cp -r README.md CHANGELOG.md LICENSE docs scenarios notebooks $(SITE_SOURCE)
	NO_MKDOCS_2_WARNING=1 SITE_SOURCE=$(abspath $(SITE_SOURCE)) $(BIN)/mkdocs build --quiet --config-file docs/mkdocs.yml --site-dir $(abspath $(SITE))

answers: setup ## Ask real Spark again what functions and casts make of values, and what queries read
	$(BIN)/python -m tests.sql.observe_values
	$(BIN)/python -m tests.scans.observe_queries
	$(BIN)/python -m tests.scans.observe_statements

real-engines: setup $(DELTA_RS_PYTHON) ## Let oracles judge what delta-rs and a killed Delta Lake leave; writes docs/real-engines.md
	$(BIN)/python -m benchmarks.stale_handles $(BIN)/python $(DELTA_RS_PYTHON)
	setsid --wait $(BIN)/python -m benchmarks.killed_jvm
	setsid --wait $(BIN)/python -m benchmarks.rows_on_spark
