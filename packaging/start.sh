#!/bin/sh
# Starts Counterfoil from the folder that its archive was unpacked into; nothing needs to be installed but Python.
here=$(dirname -- "$(readlink -f -- "$0")")
home=$here/lib/counterfoil
version=$(basename -- "$home"/lib/python3.*)
if ! "$home/bin/python3" -I -c '' 2>/dev/null; then
    # Python lies elsewhere on this machine, so the environment is told where.
    python=$(command -v "$version") || {
        echo "Counterfoil's archive needs $version, which is not on this machine's PATH." >&2
        exit 4
    }
    python=$(readlink -f -- "$("$python" -c 'import sys; print(sys.executable)')")
    if ! { ln -sfn "$python" "$home/bin/python3" &&
        printf 'home = %s\ninclude-system-site-packages = false\nversion = %s\n' \
            "$(dirname -- "$python")" "${version#python}" >"$home/pyvenv.cfg"; }; then
        echo "The environment in $home cannot be told where $python is: unpack the archive where you may write." >&2
        exit 4
    fi
fi
exec "$home/bin/python3" -I "$home/bin/counterfoil" "$@"
