#!/usr/bin/env bash
# Sets up a development environment in .venv: system libraries (Debian and its kin), a virtual environment, the
# package with its window and its development tools. Safe to run again. `make setup` calls it.
set -euo pipefail
cd "$(dirname "$0")/.."

# Shared libraries that PySide6's wheels load but do not bring, and the Debian package of each: what Qt itself and
# its offscreen platform need, then what the xcb and wayland platforms need, and what presses keys in a test. Libraries
# are looked for, not packages, since Debian renames packages (libglib2.0-0t64).
libraries="
libEGL.so.1:libegl1 libGL.so.1:libgl1 libfontconfig.so.1:libfontconfig1 libfreetype.so.6:libfreetype6
libglib-2.0.so.0:libglib2.0-0 libdbus-1.so.3:libdbus-1-3 libxkbcommon.so.0:libxkbcommon0
libxkbcommon-x11.so.0:libxkbcommon-x11-0 libX11-xcb.so.1:libx11-xcb1 libxcb-cursor.so.0:libxcb-cursor0
libxcb-icccm.so.4:libxcb-icccm4 libxcb-image.so.0:libxcb-image0 libxcb-keysyms.so.1:libxcb-keysyms1
libxcb-randr.so.0:libxcb-randr0 libxcb-render-util.so.0:libxcb-render-util0 libxcb-render.so.0:libxcb-render0
libxcb-shape.so.0:libxcb-shape0 libxcb-shm.so.0:libxcb-shm0 libxcb-sync.so.1:libxcb-sync1
libxcb-xfixes.so.0:libxcb-xfixes0 libxcb-xkb.so.1:libxcb-xkb1
libX11.so.6:libx11-6 libXtst.so.6:libxtst6
libwayland-client.so.0:libwayland-client0 libwayland-cursor.so.0:libwayland-cursor0 libwayland-egl.so.1:libwayland-egl1
"

# Programs that only tests run: a test is skipped where its program is missing. xvfb-run wants xauth.
programs="Xvfb:xvfb xauth:xauth openssl:openssl h5dump:hdf5-tools sshd:openssh-server ssh:openssh-client
softhsm2-util:softhsm2 pkcs11-tool:opensc age:age age-keygen:age"

say() { printf '%s\n' "$*" >&2; }

missing_packages() {
    local known entry
    known=$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null || true)
    for entry in $libraries; do
        case "$known" in *"${entry%%:*} "*) ;; *) printf '%s ' "${entry#*:}" ;; esac
    done
    for entry in $programs; do
        PATH="$PATH:/usr/sbin" command -v "${entry%%:*}" >/dev/null || printf '%s ' "${entry#*:}"
    done
    # Without a font every text in the window vanishes, with no error from Qt.
    if [ -z "$(find -L /usr/share/fonts /usr/local/share/fonts "$HOME/.fonts" "$HOME/.local/share/fonts" \
        -name '*.[to]t[fc]' -print -quit 2>/dev/null)" ]; then
        printf 'fonts-dejavu-core '
    fi
}

install_system_packages() {
    [ "$(uname -s)" = Linux ] || return 0
    local packages root=""
    packages=$(missing_packages)
    [ -n "$packages" ] || return 0
    if ! command -v apt-get >/dev/null; then
        say "The window and its tests need what Debian calls these packages: $packages"
        say "Install their like with your system's package manager if the window does not start."
        return 0
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! sudo -n true 2>/dev/null; then
            say "The window and its tests need system packages that are missing. Run this, then run make again:"
            say "    sudo apt-get install --no-install-recommends $packages"
            return 0
        fi
        root="sudo -n"
    fi
    say "Installing system packages: $packages"
    # shellcheck disable=SC2086
    { $root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq \
        --no-install-recommends $packages >/dev/null; } || say "They could not be installed; the window may not start, and tests are skipped."
}

suitable() {
    "$1" -c 'import sys; sys.exit(not ((3, 11) <= sys.version_info[:2] <= (3, 13) and sys.maxsize > 2**32))' 2>/dev/null
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
        if suitable "$candidate"; then
            printf '%s' "$candidate"
            return
        fi
    done
    say "Counterfoil needs a 64-bit Python 3.11, 3.12 or 3.13, and none was found on PATH."
    say "Install one (on Debian: apt-get install python3 python3-venv), or name one: make PYTHON=/path/to/python3 ..."
    exit 1
}

install_system_packages
if ! { [ -x .venv/bin/python ] && suitable .venv/bin/python; }; then
    python=$(find_python)
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        say "$python cannot make virtual environments: its venv module is missing."
        say "On Debian: apt-get install python3-venv"
        exit 1
    fi
    say "Making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
fi
say "Installing Counterfoil and its tools into .venv (PyTorch is large; this takes a few minutes the first time)"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input -c constraints.txt -e '.[gui,dev]'
# pip does it for what it copies, and this installation is read from where it lies.
.venv/bin/python -m compileall -q engine app resources || say "Python will do it when the modules are first loaded."
say "Compiling what computes for this machine's processor (once, and again after changes to it)"
.venv/bin/counterfoil doctor --compile || say "It will be compiled when it is first used."
say "Done: .venv/bin/counterfoil"
