# Two commands are all the set-up there is: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint format docs lock bench clean

demo: $(READY)  ## import the samples, show the leaderboard, export the specification's files
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh build/demo

test: lint  ## lint, type check and test
	@echo "==> tests"
	@$(BIN)/python -m pytest -n 2

lint: $(READY)
	@echo "==> ruff and mypy"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(READY)  ## let ruff lay the code out
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(READY)  ## write the generated pages of docs/ anew
	@$(BIN)/python -m docs.generate

lock:  ## choose the newest versions that pyproject.toml allows (needs uv on the PATH)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	  --custom-compile-command "make lock" --group dev pyproject.toml -o requirements.lock

# The environment is made without ensurepip (some systems leave it out) and filled by the pip
# at hand. The stamp is written last, so that an interrupted set-up starts again.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "evalstore needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	@echo "==> making the environment in $(VENV) (a minute or two, once)"
	@$(PYTHON) -m venv --clear --without-pip $(VENV)
	@$(PYTHON) -m pip --python $(VENV) install --quiet --require-hashes -r requirements.lock
	@$(PYTHON) -m pip --python $(VENV) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

bench: $(READY)  ## measure the ratios of bench/RESULTS.md and write them anew (about a quarter of an hour)
	@$(BIN)/python -m bench

clean:  ## remove what the other targets made
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .hypothesis
