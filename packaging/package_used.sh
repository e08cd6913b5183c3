#!/usr/bin/env bash
# What a user does with the installed package; packaging/package_check.sh runs it in a clean Debian.
set -euo pipefail
cd ~/out
test "$(command -v counterfoil)" = /usr/bin/counterfoil
counterfoil --version --verbose
test -f /usr/share/man/man1/counterfoil-audit.1.gz || test ! -d /usr/share/man/man1
for who in client trainer auditor; do counterfoil keygen "$who.pem" --no-passphrase >/dev/null; done
counterfoil order digits-cnn --out job.cfoil --steps 3 --key client.pem >/dev/null
counterfoil train job.cfoil --out run.cfoil --key trainer.pem >/dev/null

kind=$(gio info -a standard::content-type run.cfoil | grep -o 'application/[a-z-]*')
test "$kind" = application/x-counterfoil || { echo "a .cfoil is taken for $kind" >&2; exit 1; }
gio mime "$kind" | grep -q counterfoil.desktop || { echo "no desktop entry opens $kind" >&2; exit 1; }
export DISPLAY=:77 LANG=C.UTF-8
Xvfb "$DISPLAY" -screen 0 1366x768x24 >/dev/null 2>&1 &
server=$!
trap 'kill "$server"' EXIT
until xdotool getdisplaygeometry >/dev/null 2>&1; do sleep 0.2; done
begun=$(date +%s%N)
gio open run.cfoil
window=$(timeout 300 xdotool search --sync --onlyvisible --name 'run\.cfoil' | head -1)
echo "the window shows $(xdotool getwindowname "$window"), $((($(date +%s%N) - begun) / 1000000)) ms after the double click"
sleep 10
scrot --overwrite opened.png
# The button "Replay", where the window of a fixed size on a screen of a fixed size has it.
xdotool mousemove 52 48 click 1
cases=~/.config/Counterfoil/cases.json
for _ in $(seq 300); do grep -q VERIFIED "$cases" 2>/dev/null && break; sleep 1; done
scrot --overwrite replayed.png
grep -q VERIFIED "$cases" || { echo "the replay in the window did not end with VERIFIED; see replayed.png" >&2; exit 1; }
echo "a click on Replay ended with VERIFIED"
xdotool windowkill "$window"

counterfoil audit run.cfoil --order job.cfoil --trainer-key trainer.pub.pem --verdict verdict.json --key auditor.pem
counterfoil verify verdict.json --key auditor.pub.pem >/dev/null
