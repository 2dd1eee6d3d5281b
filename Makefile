# Thin names for what tools/ and cargo do; everything can also be called directly.
# `make` alone prints the list.

SHELL := /bin/bash
export PYTHON

.PHONY: help setup stacks web wheel demo test test-fast test-night lint fmt fuzz fuzz-long bench bench-keep bench-peers hot-paths generated docs audit crates lock clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv, install locked dependencies, build the engine (release)
	@tools/setup setup

stacks: ## libraries of real transports (quinn, s2n-quic, smoltcp) for --plugin, below stacks/*/target: minutes of computing
	@tools/build-stacks

web: ## the engine for browser tabs, into the page of `sojourn serve`; `make setup` does it where the compiler can
	@tools/build-web

wheel: setup ## what others install without a compiler: a wheel and a source distribution, into dist/
	@tools/build-wheel

demo: setup ## set up, simulate the published cases of the study of 2012, say where the report is
	@report=$$(.venv/bin/sojourn study run white2012 --points '[CDF]0*') && echo "open the report: $$report"

test: ## set up with development tools; formatters, linters, types, all tests but those of the night
	@tools/setup dev
	@.venv/bin/python tools/verify.py all

test-fast: ## tests in Python that start no program, server, browser or study: below a minute
	@tools/setup dev
	@.venv/bin/python -m pytest -q -n auto -m "not slow and not whole" --durations=10

test-night: ## tests that take long: whole runs and studies, commands of all pages, the wheel, SLURM, PostgreSQL; before each version
	@tools/setup dev
	@.venv/bin/python tools/verify.py night

lint: ## formatters, linters and types, without tests
	@tools/setup dev
	@.venv/bin/python tools/verify.py lint

fmt: ## format Rust and Python
	@tools/setup dev
	@cargo fmt --all
	@.venv/bin/ruff format --quiet .
	@.venv/bin/ruff check --quiet --fix .

fuzz: ## damaged and random input for everything that reads files, some minutes; needs cargo-fuzz and a nightly compiler
	@tools/fuzz 100000
	@tools/fuzz-importers 1000

fuzz-long: ## the same, until each target had ten million inputs on this machine: hours; says what remains
	@tools/fuzz --until 10000000
	@tools/fuzz-importers 100000

bench: setup ## what one packet costs: measure, write docs/results/speed.md and speed.svg
	@.venv/bin/python tools/bench-speed $(if $(FLOOR),--floor "$(FLOOR)")

bench-keep: setup ## keep this build of the engine, so that `make bench` measures later ones beside it
	@.venv/bin/python tools/bench-speed --keep

bench-peers: setup ## Sojourn beside ns-2 and ns-3, where they are installed: write docs/results/agreement.md
	@.venv/bin/python benches/peers/compare.py

hot-paths: setup ## note anew for the compiler which paths of the engine are hot: after larger changes, and with a new compiler; CHECK=1 only compares
	@tools/note-hot-paths $(if $(CHECK),--check)

generated: ## every generated file: references, schema, tables of records and of requirements, list of keys and defaults
	@tools/setup dev
	@tools/generate

docs: ## the documentation with the page and its lessons, into docs/_build/html; SITE=URL for codes on pages for teachers
	@tools/setup docs
	@tools/generate reference
	@.venv/bin/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@rm -rf docs/_build/html/live
	@if [ -f python/sojourn/serve/page/engine.wasm ]; then .venv/bin/sojourn serve export docs/_build/html/live $(if $(SITE),--base "$(SITE)/live"); fi
	@echo "open docs/_build/html/index.html"

audit: ## advisories, licences and sources of libraries (cargo-deny, pip-audit); says what could not be asked
	@PATH="$$PWD/.venv/bin:$$PATH" tools/audit

crates: ## crates for others: packages, dry publication, builds without a system, header, semver, Miri; says what could not be asked
	@tools/check-crates

lock: ## resolve requirements/*.txt anew from pyproject.toml (needs uv)
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
	    --custom-compile-command "make lock" --group install -o requirements/install.txt
	uv pip compile --quiet --universal --fork-strategy fewest --generate-hashes --python-version 3.11 \
	    --custom-compile-command "make lock" pyproject.toml --extra sql --extra field --extra serve --group build -o requirements/setup.txt
	uv pip compile --quiet --universal --fork-strategy fewest --generate-hashes --python-version 3.11 \
	    --custom-compile-command "make lock" pyproject.toml --extra sql --extra field --extra collector --extra serve --extra probe --extra cluster --extra crate --extra data --group build --group develop \
	    -c requirements/setup.txt -o requirements/dev.txt
	uv pip compile --quiet --universal --fork-strategy fewest --generate-hashes --python-version 3.11 \
	    --custom-compile-command "make lock" pyproject.toml --extra sql --extra field --group build --group docs \
	    -c requirements/setup.txt -o requirements/docs.txt

clean: ## remove what was built; results and the store of runs stay
	rm -rf .venv target docs/_build python/sojourn/_engine*.so
