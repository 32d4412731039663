# make demo | make test, and what they are made of. `make help` lists everything.
SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV := .venv
# What a user installs, and nothing of the tests.
PRODUCT := .venv-product
PY := $(VENV)/bin/python
# The first interpreter that is new enough.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
# TORCH=cpu: builds of torch without CUDA on every platform. Without it, the pin decides (on Linux: with CUDA).
TORCH ?=
PIP_ARGS := $(if $(filter cpu,$(TORCH)),--extra-index-url https://download.pytorch.org/whl/cpu)
ARGS ?=
FILE ?=
# What `make lock` needs, in an environment that is thrown away.
LOCK_TOOLS := uv==0.13.9 cyclonedx-bom==7.5.0
LOCK := .venv-lock/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --upgrade --no-header --no-annotate --quiet
# What requirements.txt is made of.
PINS := requirements.txt requirements/analysis.txt requirements/server.txt requirements/torch.txt
# Tests in the order in which they stand, with the same numbers drawn.
ONE_ORDER := --randomly-dont-reorganize --randomly-seed=1
# Each has a database of its own, and migrations.
SITES := humanexp humanexp.sites.marketplace humanexp.sites.panel

.PHONY: help
help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: setup
setup: $(VENV)/tests.stamp  ## the environment, with everything that tests and checks need

.PHONY: demo
demo: $(VENV)/product.stamp  ## the whole loop on fresh data, then serve it at http://127.0.0.1:8000 (ARGS=--no-serve ends instead)
	$(PY) manage.py demo $(ARGS)

.PHONY: run
run: $(VENV)/product.stamp  ## development server and job runner at http://127.0.0.1:8000 until Ctrl-C (ARGS=8010: another port)
	$(PY) manage.py migrate --verbosity 0
	@$(PY) manage.py run_jobs & jobs=$$!; trap 'kill $$jobs 2>/dev/null; wait $$jobs' EXIT; trap : INT; \
		DEBUG=$${DEBUG-1} $(PY) manage.py runserver $(ARGS)

.PHONY: test
ifeq ($(FILE),)
test: $(VENV)/tests.stamp  ## what every change must pass (FILE=tests/a/test_b.py::test_c: that one alone, at once)
	@PYTHONDONTWRITEBYTECODE= $(PY) -m tests.gate
else
test: $(VENV)/tests.stamp
	OMP_NUM_THREADS=1 $(PY) -m pytest $(ONE_ORDER) $(FILE) $(ARGS)
endif

.PHONY: verify
verify: $(VENV)/tests.stamp  ## everything else: every page, attacks, killed studies, faults, orders and examples drawn anew, the product alone (goes on where it stopped)
	@PYTHONDONTWRITEBYTECODE= $(PY) -m tests.gate.verify $(ARGS)

.PHONY: durations
durations: $(VENV)/tests.stamp  ## store what the tests of the last runs took: the shards are cut by it
	$(PY) -m tests.gate durations

.PHONY: product
product: $(VENV)/tests.stamp $(PRODUCT)/stamp  ## the product without the tests' packages: the README's commands, wheel and sdist
	$(PRODUCT)/bin/python -m tests.product.walk
	$(PY) -m tests.product.wheel

.PHONY: test-slow
test-slow: $(VENV)/tests.stamp  ## long simulations and whole journeys
	$(PY) -m pytest -m slow $(ARGS)

# ARGS="--count 15 --areas rights rules" is a short one. It goes on where it stopped.
.PHONY: mutants
mutants: $(VENV)/tests.stamp  ## 100 small mistakes in the code, each of which the tests of its module should notice (hours)
	nice -n 10 $(PY) -m tests.mutants $(ARGS)

.PHONY: bench
bench: $(VENV)/tests.stamp  ## speed and coverage figures, as ratios to a named baseline
	$(PY) -m pytest -m bench tests
	@for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(PY) -m benchmarks.$$(basename $$script .py) || exit 1; done

.PHONY: check
check: $(VENV)/tests.stamp  ## lint, types, templates, import contracts, migrations
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy analysis humanexp fixtures
	$(VENV)/bin/mypy --config-file humanexp/sites/marketplace/mypy.ini -p humanexp.sites.marketplace
	$(VENV)/bin/mypy --config-file humanexp/sites/panel/mypy.ini -p humanexp.sites.panel
	$(VENV)/bin/lint-imports
	$(VENV)/bin/djade --check $$(git ls-files '*.html')
	for site in $(SITES); do DJANGO_SETTINGS_MODULE=$$site.settings $(PY) manage.py makemigrations --check --dry-run || exit 1; done

.PHONY: fmt
fmt: $(VENV)/tests.stamp  ## format code and templates, and mend what the linter can
	$(VENV)/bin/ruff check --fix-only .
	$(VENV)/bin/ruff format .
	@$(VENV)/bin/djade $$(git ls-files '*.html') || $(VENV)/bin/djade $$(git ls-files '*.html')

.PHONY: migrations
migrations: $(VENV)/tests.stamp  ## the initial migration of every app, made anew from its models
	for site in $(SITES); do DJANGO_SETTINGS_MODULE=$$site.settings $(PY) -m fixtures.migrations || exit 1; done
	$(VENV)/bin/ruff check --quiet --fix-only humanexp/*/migrations
	$(VENV)/bin/ruff format --quiet humanexp/*/migrations

.PHONY: lock
lock:  ## what is installed in the end, pinned with hashes (requirements/lock), and lists of it as CycloneDX (dist)
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check $(LOCK_TOOLS)
	$(LOCK) --output-file requirements/lock/web.txt $(addprefix requirements/,analysis.txt server.txt postgres.txt s3.txt)
	$(LOCK) --output-file requirements/lock/worker.txt requirements.txt \
		$(addprefix requirements/,postgres.txt s3.txt classifiers.txt cluster.txt)
	@mkdir -p dist
	for image in web worker; do .venv-lock/bin/cyclonedx-py requirements --output-reproducible --sv 1.6 \
		--output-file dist/$$image.cdx.json requirements/lock/$$image.txt || exit 1; done
	rm -rf .venv-lock

.PHONY: vendor
vendor:  ## fetch the vendored browser libraries again (needs npm)
	$(PY) -m fixtures.vendor

# PASSWORD and ENTRY: as the running demo prints them.
.PHONY: screenshots
screenshots: $(VENV)/tests.stamp  ## the README's pictures, from a running demo
	$(PY) docs/take_screenshots.py --password $(PASSWORD) --entry $(ENTRY)

.PHONY: clean
clean:  ## remove the environment and everything the demo made
	rm -rf $(VENV) $(PRODUCT) media

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: apt-get install python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || requirements/system.sh venv
	$(PYTHON) -m venv $(VENV)

$(VENV)/product.stamp: $(PINS) | $(VENV)/bin/python
	$(PY) -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) -r requirements.txt
	@touch $@

$(VENV)/tests.stamp: $(wildcard requirements/*.txt) requirements/system.sh $(VENV)/product.stamp
	$(PY) -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) -r requirements/dev.txt
	@requirements/system.sh tests
	@touch $@

$(PRODUCT)/stamp: $(PINS) | $(VENV)/bin/python
	$(PYTHON) -m venv --clear $(PRODUCT)
	$(PRODUCT)/bin/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) -r requirements.txt
	@touch $@
