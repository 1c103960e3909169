# Every target works on a fresh clone with nothing but Python (>= 3.11) and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: env demo test test-slow lint bench bench-topics bench-stability bench-views bench-mixtures bench-corpus bench-scale docs clean

env: .venv/installed

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	touch $@

demo: env
	$(BIN)/polyad demo

test: env
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term:skip-covered

test-slow: env
	$(BIN)/python -m pytest -m slow

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

bench-mixtures: env
	$(BIN)/python benchmarks/mixtures.py --install

bench-corpus: env
	$(BIN)/python benchmarks/corpus.py

bench-scale: env
	$(BIN)/python benchmarks/scale.py $(SCALE)

docs: env
	$(BIN)/python -m pytest --quiet --doctest-glob='*.md' docs README.md

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .coverage
