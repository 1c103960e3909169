# Every target works on a fresh clone with nothing but Python (>= 3.11) and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: env demo test coverage test-slow fuzz test-versions mutants lint bench bench-topics bench-stability bench-views bench-mixtures bench-corpus bench-scale papers browser exchange test-browser gallery docs clean

env: .venv/installed

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	touch $@

demo: env
	$(BIN)/polyad demo

# Modules once compiled are kept, whatever the shell says: tests start many processes.
test: export PYTHONDONTWRITEBYTECODE =
test: env
	$(BIN)/python -m pytest -n 2 --dist worksteal

coverage: env
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term:skip-covered

# A real browser for the tests of pages, where it is not there yet, and the checker of accessibility.
browser: .browser/installed

.browser/installed:
	command -v chromium && command -v chromedriver || \
		(apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium chromium-driver)
	npm install --silent --no-fund --no-audit --prefix .browser axe-core
	touch $@

# Libraries that models are handed to, for the tests of it.
exchange: env
	$(BIN)/python -m pip install --quiet --group exchange

test-browser: env browser
	$(BIN)/python -m pytest -n 0 tests/report

# Pages of real corpora, with pictures of them, in gallery/.
gallery: env
	$(BIN)/python benchmarks/gallery.py

test-slow: env
	$(BIN)/python -m pytest -m slow

# A hundred thousand broken inputs of every format: half an hour of one core, and goes on where it was stopped.
fuzz: env
	$(BIN)/python tests/fuzzing.py fuzz.jsonl

# The wheel with the lowest and the newest versions that it allows, and without pandas.
test-versions: env
	$(BIN)/python tests/versions.py

# One sign, weight or exponent changed at a time: a test must fail for each.
mutants: env
	$(BIN)/python tests/mutants.py $(MUTANTS)

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: env
	$(BIN)/python benchmarks/engine.py

bench-topics: env
	$(BIN)/python benchmarks/topics.py

bench-stability: env
	$(BIN)/python benchmarks/stability.py

bench-views: env
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python benchmarks/views.py
	$(BIN)/python benchmarks/separation.py

bench-mixtures: env
	$(BIN)/python benchmarks/mixtures.py --install

bench-corpus: env
	$(BIN)/python benchmarks/corpus.py

# Every figure of the papers: hours, resumable; minutes with QUICK=1.
papers: env
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python benchmarks/papers/run.py $(if $(QUICK),--quick)

bench-scale: env
	$(BIN)/python benchmarks/scale.py $(SCALE)

docs: env
	$(BIN)/python -m pytest --quiet --doctest-glob='*.md' docs README.md

clean:
	rm -rf .venv .versions .browser gallery .mypy_cache .pytest_cache .ruff_cache .coverage
