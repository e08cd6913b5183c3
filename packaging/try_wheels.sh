#!/usr/bin/env bash
# Installs the wheel of build/wheels in two empty environments, as the locks say: the engine alone, then with the window.
# packaging/try_wheel.py then uses each. `make wheels-check` calls it; PYTHON=... names another Python.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-python3}"
for kind in engine window; do
    there="build/try-$kind"
    "$python" -m venv --clear "$there"
    "$there/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes \
        --only-binary :all: -r "packaging/lock/$kind.txt"
    "$there/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps build/wheels/*.whl
    "$there/bin/python" -m pip check
    # shellcheck disable=SC2046
    "$there/bin/python" packaging/try_wheel.py $([ "$kind" = engine ] || echo --window)
done
