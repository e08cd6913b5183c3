# `make demo` on a fresh machine sets everything up and shows the main job. README.md says more.
PYTHON ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.counterfoil-is-set-up
DEMO ?= counterfoil-demo
EXAMPLE ?= counterfoil-example
DEVICE ?= cuda:0
GPU ?= gpu-results
MINUTES ?= 15
CHOSEN ?= -m "not slow"
# One process for each core, with one thread each; a file's tests stay together, since they share recorded runs, and
# tests/conftest.py says which files come first. Bytecode is kept, or every process of a test would compile it anew.
PYTEST := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist loadfile \
	--no-loadscope-reorder --durations=20

.PHONY: help setup demo example screenshots docs translations lint style types test test-all tests coverage bench bench-paper bench-accuracy gpu arm64 torches bench-check wheels wheels-check package package-check lock clean

help:
	@echo "make demo         order, record and replay an honest and a tampered run of digit training"
	@echo "make example      fine-tune a small language model: ordered, recorded, audited, delivered; docs/example.md"
	@echo "make test         format, lint and tests; CI checks types beside them"
	@echo "make test-all     the same with the slow tests"
	@echo "make coverage     the tests once more, with the lines and branches that none of them reaches"
	@echo "make lint         format, lint, types and import contracts only"
	@echo "make bench        measure step time, log size, memory, and the pauses of the window"
	@echo "make bench-check  measure the ratios of a step's times again; fails when one is worse than the stored one"
	@echo "make bench-paper  measure the paper's experiments and write docs/paper-experiments.md"
	@echo "make bench-accuracy  compare training under the profiles with ordinary float32 training"
	@echo "make gpu          on a machine with a GPU: all that is to be known of it, as a page of docs/gpu-results; 15 minutes, goes on where it was stopped"
	@echo "make arm64        record and replay on an emulated AArch64 machine too (root, 6 GB, an hour); docs/cross-hardware.md"
	@echo "make torches      the same between versions of torch and Python (2 GB for each); docs/cross-hardware.md"
	@echo "make screenshots  make the pictures of README.md, of the help and of the tutorial again"
	@echo "make docs         a site of the pages of docs/, with search and index, in build/docs; every link is checked"
	@echo "make translations collect the window's texts, and compile their translations"
	@echo "make wheels       build sdist and wheel twice, the same bytes; build/wheels"
	@echo "make wheels-check install the wheel in empty environments, without and with the window, and use it"
	@echo "make package      build the Debian package and the archive; build/package, docs/install.md"
	@echo "make package-check install the package in a clean Debian and use it (root, mmdebstrap)"
	@echo "make lock         write the locks with hashes of packaging/lock anew"
	@echo "make setup        virtual environment with everything; the others call it"
	@echo "make clean        remove what was made, the virtual environment included"

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt packaging/bootstrap.sh
	PYTHON="$(PYTHON)" bash packaging/bootstrap.sh
	@touch $@

demo: setup
	$(BIN)/counterfoil demo --folder $(DEMO)

example: setup
	$(BIN)/python examples/fine_tuning.py --folder $(EXAMPLE) $(if $(TEXT),--text $(TEXT))

screenshots: setup
	mkdir -p build docs/images
	cd build && LANGUAGE=en QT_QPA_PLATFORM=offscreen ../$(BIN)/counterfoil demo
	cp build/counterfoil-demo/honest.png build/counterfoil-demo/tampered.png docs/images/
	$(BIN)/python packaging/help_pictures.py build/counterfoil-demo
	$(BIN)/python packaging/moving_picture.py build/counterfoil-demo docs/images/replay.webp
	$(BIN)/python packaging/tutorial_pictures.py docs/images

# Says what is missing where Sphinx is not installed; the site is read without a network.
docs: setup
	rm -rf build/docs build/docs-doctrees
	$(BIN)/python packaging/docs_site.py build/docs

translations: setup
	$(BIN)/python packaging/translations.py

lint: style types

style: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy
	$(BIN)/lint-imports

test: style
	$(MAKE) --no-print-directory tests

test-all: style
	$(MAKE) --no-print-directory tests CHOSEN=

tests: setup
	$(PYTEST) $(CHOSEN)

coverage: setup
	$(PYTEST) -m "not slow" --cov --cov-report=term

bench: setup
	$(BIN)/python -m benchmarks steps
	$(BIN)/python -m benchmarks window

bench-check: setup
	$(BIN)/python -m benchmarks check

bench-paper: setup
	$(BIN)/python -m benchmarks paper --write

bench-accuracy: setup
	$(BIN)/python -m benchmarks accuracy --write docs/accuracy.md $(if $(TEXT),--text $(TEXT))

# Whatever is found is written; the exit code says whether it is as it should be. Called again it goes on.
gpu: setup
	$(BIN)/python -m benchmarks gpu --device $(DEVICE) --out $(GPU) --minutes $(MINUTES) --workers 8 --write

arm64: setup
	nice bash packaging/arm64.sh campaign $(BIN)/python

torches: setup
	nice bash packaging/torches.sh campaign

TOOLS := build/tools/bin/python

$(TOOLS): packaging/lock/build.txt packaging/tools.sh
	PYTHON="$(PYTHON)" bash packaging/tools.sh
	@touch $@

wheels: $(TOOLS)
	rm -rf build/wheels
	$(TOOLS) packaging/wheels.py --twice
	$(TOOLS) -m twine check --strict build/wheels/*

wheels-check: wheels
	PYTHON="$(PYTHON)" bash packaging/try_wheels.sh

# lintian says what it finds where it is installed; packaging/debian/lintian-overrides says why the rest may stay.
package: $(TOOLS)
	$(TOOLS) packaging/package.py

package-check:
	PYTHON="$(PYTHON)" bash packaging/package_check.sh

lock:
	PYTHON="$(PYTHON)" bash packaging/lock.sh

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf .coverage coverage.xml htmlcov counterfoil-demo counterfoil-example bench-results
	find engine app resources tests -name __pycache__ -type d -prune -exec rm -rf {} +
