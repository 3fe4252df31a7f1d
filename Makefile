# Few verbs. `make demo` and `make test` do all set-up themselves; they need python3 (>= 3.11), make and git.
#
#   make demo     the site with a first seed, on its own data (var/demo), in the foreground
#   make up       the site for daily use, on var/
#   make test     the checks, then every test
#   make check    the checks alone: ruff, mypy, import directions, templates, migrations, translations
#   make setup    what the others do first: .venv, dependencies, translations, static files
#   make lock     resolve the dependencies anew (after a change in pyproject.toml)
#   make i18n     collect the marked strings into the .po files and compile them

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
RUNTIME := $(VENV)/.installed-site
DEV := $(VENV)/.installed-dev

.PHONY: help setup up demo test check lock i18n browser static messages
help:
	@sed -n '3,9s/^# \{0,1\}//p' Makefile

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "Fuseboard needs python3 (3.11 or newer); none was found. Try: apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Fuseboard needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=python3.13 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "This Python has no venv module. On Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "set-up: creating $(VENV) with $$($(PYTHON) -V)"
	@$(PYTHON) -m venv $(VENV)

# The stamps depend on the locks: a pull that changes one installs again, anything else costs nothing.
# --no-compile: Python compiles what it really imports, which is a small part of what is installed.
$(RUNTIME): requirements.lock pyproject.toml | $(VENV)/bin/python
	@echo "set-up: installing the site's dependencies from requirements.lock"
	@$(PIP) install -q --no-compile --require-hashes -r requirements.lock
	@$(PIP) install -q --no-compile --no-deps --no-build-isolation --config-settings editable_mode=compat -e .
	@touch $@

$(DEV): requirements-dev.lock $(RUNTIME)
	@echo "set-up: installing the test tools from requirements-dev.lock"
	@$(PIP) install -q --no-compile --require-hashes -r requirements-dev.lock
	@touch $@

# Compiled catalogues are not in git, and a fresh machine has no gettext: Babel does it.
messages: $(RUNTIME)
	@for po in $$(find locale -name '*.po' 2>/dev/null); do \
	  mo=$${po%.po}.mo; \
	  if [ ! -e $$mo ] || [ $$po -nt $$mo ]; then $(BIN)/pybabel -q compile -i $$po -o $$mo; fi; done

# Here and not at each start: hashing and compressing takes seconds. The stamp is older than any changed asset.
STATIC_SOURCES := $(shell find static bench_site/*/static -type f 2>/dev/null)
$(VENV)/.collected: $(RUNTIME) $(STATIC_SOURCES) bench_site/settings.py
	@$(BIN)/python manage.py collectstatic --noinput -v 0
	@touch $@
static: $(VENV)/.collected

setup: $(RUNTIME) messages static

up: setup
	@exec $(BIN)/python -m bench_site.up

demo: setup
	@exec $(BIN)/python -m bench_site.up --demo

browser: $(DEV)
	@$(BIN)/python -m bench_site.checks browser

check: $(DEV) setup
	@$(BIN)/python -m bench_site.checks all

# Arguments for pytest: make test T='tests/platform -k embedded'
T ?=
test: check browser
	@$(BIN)/python -m pytest $(T)

i18n: $(DEV)
	@$(BIN)/python -m bench_site.checks i18n

# `uv` only resolves here; installing needs nothing but pip. One lock serves Python 3.11 and newer.
UV_COMPILE := $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate \
  --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' pyproject.toml
lock: $(VENV)/bin/python
	@$(PIP) install -q uv
	@$(UV_COMPILE) $(UV_FLAGS) --extra site --extra embedded --extra build -o requirements.lock
	@$(UV_COMPILE) $(UV_FLAGS) --extra site --extra embedded --extra build --extra dev -c requirements.lock -o requirements-dev.lock
