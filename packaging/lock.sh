#!/usr/bin/env bash
# Writes the locks of packaging/lock anew: what builds, what the engine needs, and what the window needs, each with the
# SHA-256 of every file that may be installed. `make lock` calls it, with a Python of the version that is packaged.
#
# torch is the build for CPUs, which is not on PyPI: name its index, or a folder with its wheel, in pip's own settings
# (PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu or PIP_FIND_LINKS=FOLDER). The lock then names that build.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-python3}"
"$python" -m venv --clear build/locker
build/locker/bin/python -m pip install --quiet --disable-pip-version-check --no-input pip-tools
lock() {
    build/locker/bin/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url \
        --no-emit-find-links --no-header --upgrade "$@"
}
lock --output-file packaging/lock/build.txt packaging/lock/build.in
lock --constraint constraints.txt --extra gui --extra hsm --extra sealing --output-file packaging/lock/window.txt pyproject.toml
grep -q '^torch==[0-9.]*+cpu' packaging/lock/window.txt || {
    echo "The lock names a torch that is built for CUDA: say where the build for CPUs is, as this script's head says." >&2
    exit 1
}
# The same versions, without what only the window needs.
sed -n 's/^\([A-Za-z0-9_.-]*==[^ ]*\) .*/\1/p' packaging/lock/window.txt >build/locked.txt
lock --constraint build/locked.txt --output-file packaging/lock/engine.txt pyproject.toml
