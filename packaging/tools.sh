#!/usr/bin/env bash
# Makes build/tools, an environment with what builds wheels and packages, exactly as packaging/lock/build.txt says.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-python3}"
if ! "$python" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "$python is no Python 3.11 or newer with its venv module (on Debian: apt-get install python3-venv)." >&2
    exit 1
fi
"$python" -m venv --clear build/tools
build/tools/bin/python -m pip install --quiet --disable-pip-version-check --no-input --require-hashes \
    -r packaging/lock/build.txt
