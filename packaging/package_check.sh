#!/usr/bin/env bash
# Installs the package of build/package in a clean Debian and uses it as a user would; `make package-check` calls it.
#
# The clean root is made by mmdebstrap, for the Debian whose Python the package was built with; that needs root. In it a
# user who is not root opens a .cfoil file as a double click does (`gio open`, which asks the desktop what opens it), on an
# X server of its own; clicks replay it and sign and save its verdict. The command does the same once more. A separately
# installed wheel verifies both verdicts. Afterwards the package is removed, and every file that is left is named.
# KEEP=1 leaves the root for a look; SUITE and MIRROR name another Debian.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "make package-check needs root: it makes a Debian of its own, with apt in it." >&2; exit 1; }
for program in mmdebstrap unshare dpkg-deb; do
    command -v "$program" >/dev/null || { echo "$program is missing: apt-get install $program" >&2; exit 1; }
done
deb=$(echo build/package/counterfoil_*.deb)
[ -f "$deb" ] || { echo "There is no package in build/package: make package" >&2; exit 1; }
root=$PWD/build/check-root
rm -rf "$root" build/check
mkdir -p build/check

inside() { # PROGRAM...: run in the clean root, with its own processes, devices and /tmp
    # shellcheck disable=SC2016
    unshare --mount --pid --fork bash -c '
        root=$1; shift
        mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"; mount -t tmpfs tmpfs "$root/tmp"
        exec chroot "$root" "$@"' _ "$root" "$@"
}
apt() { inside env DEBIAN_FRONTEND=noninteractive apt-get -qq --no-install-recommends "$@" >>build/check/apt.txt 2>&1; }
files() { find "$root" -xdev -not -path "$root/srv/*" -not -path "$root/proc/*" -not -path "$root/var/*" -printf '%P\n' | sort; }
say() { printf '== %s\n' "$*"; }

say "a clean Debian ${SUITE:=bookworm}"
mmdebstrap --quiet --variant=minbase "$SUITE" "$root" "${MIRROR:-http://deb.debian.org/debian}"
cp /etc/resolv.conf "$root/etc/resolv.conf"
apt update
# What the package and this check need is there before the package comes, so that what it leaves can be told apart.
apt install xvfb xauth xdotool scrot libglib2.0-bin desktop-file-utils shared-mime-info python3-venv
apt satisfy "$(dpkg-deb -f "$deb" Depends)"
inside useradd --create-home --home-dir /srv/auditor auditor
files >build/check/before.txt

say "install $(basename "$deb")"
cp "$deb" "$root/srv/package.deb"
begun=$(date +%s)
apt install /srv/package.deb
say "installed in $(($(date +%s) - begun)) s, kernels compiled"
test -n "$(find "$root/usr/lib/counterfoil" -path '*/__pycache__/kernels/*' -type f -print -quit)"

say "use it"
cp packaging/package_used.sh "$root/srv/auditor/used.sh"
mkdir "$root/srv/auditor/out"
inside chown -R auditor /srv/auditor
inside su - auditor -c 'bash used.sh'
cp "$root"/srv/auditor/out/* build/check/

say "verify its verdict with a separately installed wheel"
python="${PYTHON:-python3}"
if [ ! -x build/try-engine/bin/python ]; then
    "$python" -m venv --clear build/try-engine
    build/try-engine/bin/python -m pip install --quiet --disable-pip-version-check --no-input --require-hashes \
        --only-binary :all: -r packaging/lock/engine.txt
    build/try-engine/bin/python -m pip install --quiet --disable-pip-version-check --no-deps build/package/*.whl
fi
verify() { (cd build/check && ../try-engine/bin/python -I -m counterfoil verify "$1" run.cfoil --key "$2"); }
verify run.verdict.json window.pub.pem
verify verdict.json auditor.pub.pem

say "remove it"
apt purge counterfoil
rm -rf "$root/srv/auditor/out"
files >build/check/after.txt
# Icon and media type caches are the desktop's own, and Debian keeps them; what a user did is the user's.
left=$(comm -13 build/check/before.txt build/check/after.txt | grep -v -e '^srv/auditor/' -e '^run/' || true)
[ -z "$left" ] || { printf 'Left behind:\n%s\n' "$left" >&2; exit 1; }
[ -n "${KEEP:-}" ] || rm -rf "$root"
say "all is well; what was seen is in build/check"
