# Everything a developer runs. On a fresh machine, Python >= 3.11 and make are enough.

VENV    := .venv
BIN     := $(VENV)/bin
JOBS    ?= 2
SCRIPTS ?=

.PHONY: help venv test test-slow test-accelerators test-ecosystem test-libraries gallery lint format bench test-matrix coverage mutate stubs accuracy docs docs-check release-check clean

help:
	@echo "make gallery      run every script of examples/, page in build/gallery/index.html"
	@echo "make test         run the tests (TESTS='tests/numpy -k sort' chooses)"
	@echo "                  on a GPU those for it: XCORE_TEST_PLATFORM=cuda make test"
	@echo "make test-slow    run what make test leaves out of wide sweeps"
	@echo "make test-accelerators  compile everything for GPUs and TPUs that are not here"
	@echo "make test-ecosystem  run libraries written for JAX on xcore (optax, flax, diffrax, …)"
	@echo "make test-libraries  run the libraries' own tests under JAX and on xcore (TESTS='optax/_src' chooses)"
	@echo "make lint         ruff and pyright        make format   let ruff mend what it can"
	@echo "make bench        measure against jax, writes benchmarks/RESULTS.md (SCRIPTS='core')"
	@echo "make test-matrix  run the tests on every supported Python and jaxlib found here"
	@echo "make coverage     run the tests, tell which lines and branches of the core they miss"
	@echo "make mutate       make mistakes in the rules, tell which the tests miss (ARGS='--op tan')"
	@echo "make stubs        write the types of xcore.numpy, lax, random, … (tools/stubs.py)"
	@echo "make docs         build the site, build/docs/index.html (GALLERY=no: with the figures that are there)"
	@echo "make docs-check   look at the built site: names, links, anchors, tasks in a browser"
	@echo "make release-check  sdist and wheel, installed and checked on every supported Python found here"
	@echo "make accuracy     residuals and claims of every routine, writes docs/accuracy.md"

# A stamp per set of extras: an environment is filled once, and again when pyproject.toml changes.
# The interpreter is looked for only when there is an environment to make.
$(VENV)/.python:
	@sh tools/make_venv $(VENV)
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(VENV)/.python
	@echo "installing xcore[$(subst -,$(comma),$*)] into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(subst -,$(comma),$*)]'
	@$(BIN)/python -m compileall -q xcore  # as pip does for packages that are not editable
	@touch $@

comma := ,

venv: $(VENV)/.installed-test-plot

test: venv
	@$(BIN)/python -m pytest -q -n $(JOBS) -m "not slow" $(TESTS)

# What tests/slices.py leaves for it.
test-slow: venv
	@$(BIN)/python -m pytest -q -n $(JOBS) -m slow $(TESTS)

# The site is built in an environment of its own. Its gallery is that of `make gallery`, of which only what has
# changed runs again, with the libraries that some examples stand beside; GALLERY=no takes what is there.
SITE    := build/site-venv
GALLERY ?= yes

$(SITE)/.installed: pyproject.toml
	@mkdir -p build && sh tools/make_venv $(SITE)
	@$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

$(SITE)/.installed-ecosystem: pyproject.toml | $(SITE)/.installed
	@$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[docs,ecosystem]'
	@touch $@

ifneq ($(GALLERY),no)
docs: $(SITE)/.installed-ecosystem
endif
docs: $(SITE)/.installed
ifneq ($(GALLERY),no)
	@$(SITE)/bin/python examples/gallery.py --cached --jobs $(JOBS)
endif
	@$(SITE)/bin/python -m tools.site --jobs $(JOBS)

docs-check: venv $(SITE)/.installed
	@$(SITE)/bin/python -m tools.site.check
	@$(BIN)/python -m pytest -q -rs -n $(JOBS) tests/site/check_*.py

# Compilers for accelerators live in an environment of their own: half a gigabyte, of which nothing runs here.
AOT := build/aot

$(AOT)/.installed: pyproject.toml
	@mkdir -p build && sh tools/make_venv $(AOT)
	@$(AOT)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[aot,test]'
	@touch $@

test-accelerators: $(AOT)/.installed
	@$(AOT)/bin/python -m pytest -q -n $(JOBS) -o faulthandler_timeout=1800 tests/accelerators $(TESTS)

# Libraries written for JAX live in an environment of their own, beside a jax that is not used.
ECO := build/ecosystem

$(ECO)/.installed: pyproject.toml
	@mkdir -p build && sh tools/make_venv $(ECO)
	@$(ECO)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[ecosystem,test]'
	@touch $@

test-ecosystem: $(ECO)/.installed
	@$(ECO)/bin/python -m xcore.as_jax -m pytest -q tests/ecosystem tests/as_jax tests/doors $(TESTS)

OWN := build/own

# What libraries' own tests find: downloads their source distributions once, and runs them under JAX and on xcore.
test-libraries: $(ECO)/.installed
	@test -d $(OWN) || $(ECO)/bin/python tests/ecosystem/own.py $(OWN) --fetch
	@$(ECO)/bin/python tests/ecosystem/own.py $(OWN) $(TESTS)

gallery: venv
	@$(BIN)/python examples/gallery.py --jobs $(JOBS) $(SCRIPTS)

lint: venv $(VENV)/.installed-lint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright --warnings

format: venv $(VENV)/.installed-lint
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: venv $(VENV)/.installed-bench
	@$(BIN)/python benchmarks/run.py $(SCRIPTS)

test-matrix:
	@sh tools/test_matrix

# Of these folders 95 of 100 lines and branches are run by the tests. What is read from a cache is not lowered.
CORE := _core _ops _transforms _control

coverage: venv
	@rm -rf build/coverage && mkdir -p build/coverage
	@XCORE_CACHE_DIR=$(CURDIR)/build/coverage/cache $(BIN)/python -m coverage run -m pytest -q -n $(JOBS) $(TESTS)
	@$(BIN)/python -m coverage combine -q
	@for part in $(CORE); do echo "--- $$part" && \
	  $(BIN)/python -m coverage report --fail-under=95 --include="xcore/$$part/*" || exit 1; done

mutate: venv
	@$(BIN)/python -m tests.mutate --jobs $(JOBS) $(ARGS)

stubs: venv
	@$(BIN)/python tools/stubs.py

# With ARGS another selection, or another platform: its page is printed to build/, not to docs/.
accuracy: venv
	@mkdir -p build && $(BIN)/python -m tests.accuracy --jobs $(JOBS) $(ARGS) \
	  --write $(if $(ARGS),build,docs)/accuracy.md

release-check:
	@sh tools/release_check

clean:
	rm -rf build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
