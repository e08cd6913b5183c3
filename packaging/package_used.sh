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
openers=$(gio mime "$kind")
[[ $openers == *counterfoil.desktop* ]] || { echo "no desktop entry opens $kind" >&2; exit 1; }
export DISPLAY=:77 LANG=C.UTF-8
Xvfb "$DISPLAY" -screen 0 1366x768x24 >/dev/null 2>&1 &
server=$!
trap 'kill "$server"' EXIT
until xdotool getdisplaygeometry >/dev/null 2>&1; do sleep 0.2; done
begun=$(date +%s%N)
gio open run.cfoil
window=$(timeout 300 xdotool search --sync --onlyvisible --name 'run\.cfoil')
window=${window%%$'\n'*}
echo "the window shows $(xdotool getwindowname "$window"), $((($(date +%s%N) - begun) / 1000000)) ms after the double click"
sleep 10
scrot --overwrite opened.png
# Buttons and fields are where a window of this size on a screen of this size has them: the pictures show it.
click() { xdotool mousemove "$1" "$2" click 1 sleep 0.5; }
wait_for() { # FILE WHAT
    for _ in $(seq 300); do [ -z "$(find "$1" -type f 2>/dev/null)" ] || return 0; sleep 1; done
    scrot --overwrite failed.png
    echo "$2 did not come; the screen is in failed.png" >&2
    exit 1
}
click 52 48
wait_for ~/.config/Counterfoil/results "a result of the replay"
sleep 5
scrot --overwrite replayed.png
click 717 48
sleep 5
for field in 417 454; do click 700 "$field"; xdotool type --delay 50 twelve-steps; done
scrot --overwrite signing.png
click 916 654
wait_for run.verdict.json "the verdict that the window signs"
for _ in $(seq 30); do grep -q '"VERIFIED"' ~/.config/Counterfoil/cases.json && break; sleep 1; done  # written a moment later
grep -q '"VERIFIED"' ~/.config/Counterfoil/cases.json || { scrot --overwrite failed.png; echo "no case says VERIFIED" >&2; exit 1; }
echo "clicks replayed the run, and signed and saved its verdict"
sleep 5
scrot --overwrite signed.png
xdotool windowkill "$window"
cp ~/.config/Counterfoil/auditor.pub.pem window.pub.pem

counterfoil audit run.cfoil --order job.cfoil --trainer-key trainer.pub.pem --verdict verdict.json --key auditor.pem
counterfoil verify verdict.json --key auditor.pub.pem >/dev/null
