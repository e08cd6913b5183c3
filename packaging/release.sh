#!/usr/bin/env bash
# Puts a release together in build/release: wheels, package where `make package` is there, SBOM, changelog section, and
# for each key a signed list of all of them. Nothing is published, and no tag is pushed.
#
#   packaging/release.sh [--draft] KEY.pem [KEY.pem ...]
#
# The tree must be clean, and CHANGELOG.md must tell of the version with nothing left under Unreleased; then the commit
# is tagged. --draft tags nothing and takes what is under Unreleased, to try all of it. Two builders of one commit get
# the same files (docs/format-promise.md), so each signs the same list.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }

draft=no
if [ "${1:-}" = --draft ]; then draft=yes; shift; fi
[ $# -gt 0 ] || stop "usage: packaging/release.sh [--draft] KEY.pem [KEY.pem ...]"
for key in "$@"; do [ -f "$key" ] || stop "There is no key file $key. 'counterfoil keygen $key' makes one."; done

python=.venv/bin/python
[ -x "$python" ] || stop "There is no .venv. Run 'make setup' first."
version=$("$python" -c 'import counterfoil; print(counterfoil.__version__)')
commit=$(git rev-parse HEAD)
[ -z "$(git status --porcelain --untracked-files=no)" ] || stop "Files were changed and not committed: what is released is a commit."
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

out=build/release
rm -rf "$out"
mkdir -p "$out"
said=$version
if "$python" packaging/release.py changelog Unreleased >"$out/unreleased" 2>/dev/null; then
    [ "$draft" = yes ] || stop "CHANGELOG.md still has lines under Unreleased. Give them the heading of a version."
    said=Unreleased
fi
rm -f "$out/unreleased"
"$python" packaging/release.py changelog "$said" >"$out/counterfoil-$version.changes.md"

has_target() { grep -q "^$1:" Makefile; }
has_target wheels || stop "There is no 'make wheels' here, so there is nothing to release."
make --no-print-directory wheels
cp build/wheels/* "$out/"
if has_target package; then
    make --no-print-directory package
    cp build/package/*.deb build/package/*.tar.gz "$out/"
else
    say "There is no 'make package' here: the release has no Debian package."
fi
"$python" packaging/release.py sbom >"$out/counterfoil-$version.cdx.json"

files=("$out"/*)
for key in "$@"; do
    builder=$(basename "$key" .pem)
    list="$out/counterfoil-$version.$builder.release.json"
    "$python" packaging/release.py list "${files[@]}" --version "$version" --commit "$commit" --key "$key" --out "$list"
    .venv/bin/counterfoil verify "$list" "${files[@]}" --key "${key%.pem}.pub.pem" --all >&2
done
if [ "$draft" = no ]; then
    git tag -a "v$version" -m "Counterfoil $version"
    say "Tagged v$version. To publish it: git push origin v$version"
fi
say "The release lies in $out:"
ls -l "$out" >&2
