"""The parts of a release that ``packaging/release.sh`` puts together: section of the changelog, SBOM, signed list.

The SBOM is CycloneDX 1.6 (JSON), written from the metadata of the installed packages that Counterfoil needs, directly
or not: name, version, licence, and who needs whom. It holds no time and a serial number made of its content, so that
two builders with the same packages write the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import uuid
from collections.abc import Iterable, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
NAME = "counterfoil"


def changelog_section(text: str, version: str) -> str:
    """Return what the changelog says of a version; raises ValueError where it says nothing."""
    match = re.search(rf"^## \[?{re.escape(version)}\]?[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if match is None or not match[1].strip():
        raise ValueError(f"CHANGELOG.md says nothing of {version}")
    return match[1].strip() + "\n"


def needed(root: str, extras: Iterable[str]) -> dict[str, tuple[Distribution, tuple[str, ...]]]:
    """Return the installed packages that a package needs, itself first: each with those that it needs itself."""
    found: dict[str, tuple[Distribution, tuple[str, ...]]] = {}
    waiting: list[tuple[str, frozenset[str]]] = [(canonicalize_name(root), frozenset(extras))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            held = distribution(name)
        except PackageNotFoundError:
            raise ValueError(f"{name} is not installed: install what is released, with its extras") from None
        direct = [Requirement(text) for text in held.requires or ()]
        chosen = [each for each in direct if _applies(each, wanted)]
        before = found.get(name, (held, ()))[1]
        names = {canonicalize_name(each.name) for each in chosen} - {name}
        found[name] = held, tuple(sorted({*before, *names}))
        waiting += [(canonicalize_name(each.name), frozenset(each.extras)) for each in chosen]
    return found


def _applies(requirement: Requirement, extras: frozenset[str]) -> bool:
    if requirement.marker is None:
        return True
    here = {key: str(value) for key, value in default_environment().items()}
    return any(requirement.marker.evaluate({**here, "extra": extra}) for extra in ("", *extras))


def sbom(root: str = NAME, extras: Iterable[str] = ("gui",)) -> dict[str, Any]:
    """Return the bill of materials as JSON values."""
    packages = needed(root, extras)
    main, others = canonicalize_name(root), sorted(set(packages) - {canonicalize_name(root)})
    document: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component(packages[main][0], "application")},
        "components": [_component(packages[name][0], "library") for name in others],
        "dependencies": [
            {
                "ref": _purl(packages[name][0]),
                "dependsOn": sorted(_purl(packages[each][0]) for each in packages[name][1]),
            }
            for name in (main, *others)
        ],
    }
    content = json.dumps(document, sort_keys=True)
    return {**document, "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}"}


def _component(held: Distribution, kind: str) -> dict[str, Any]:
    purl = _purl(held)
    component: dict[str, Any] = {
        "type": kind,
        "bom-ref": purl,
        "name": canonicalize_name(held.metadata["Name"]),
        "version": held.version,
        "purl": purl,
    }
    expression = held.metadata.get("License-Expression")
    classified = [
        each.rpartition(" :: ")[2]
        for each in held.metadata.get_all("Classifier") or ()
        if each.startswith("License ::")
    ]
    if expression:
        component["licenses"] = [{"expression": expression}]
    elif classified:
        component["licenses"] = [{"license": {"name": name}} for name in classified]
    return component


def _purl(held: Distribution) -> str:
    return f"pkg:pypi/{canonicalize_name(held.metadata['Name'])}@{held.version.replace('+', '%2B')}"


def sign_list(files: Sequence[Path], version: str, commit: str, key: Path, out: Path) -> None:
    """Sign the list of files; the private key stays in the signer's process, which asks for its passphrase."""
    from counterfoil.cli.keys import open_key
    from counterfoil.signing.kinds import ReleaseList
    from counterfoil_core.base.digest import Digest
    from counterfoil_core.signing.statements import sign_said

    listed = {path.name: Digest.of_file(path) for path in files}
    if len(listed) != len(files):
        raise ValueError("two files have one name")
    with open_key(key, "release") as signer:
        out.write_bytes(sign_said(ReleaseList(version, commit, listed), signer))


def main() -> int:
    """Do what is asked for; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    asked = parser.add_subparsers(dest="what", required=True)
    section = asked.add_parser("changelog")
    section.add_argument("version")
    asked.add_parser("sbom")
    listing = asked.add_parser("list")
    listing.add_argument("files", nargs="+", type=Path)
    for name in ("--version", "--commit"):
        listing.add_argument(name, required=True)
    for name in ("--key", "--out"):
        listing.add_argument(name, required=True, type=Path)
    given = parser.parse_args()
    from counterfoil_core.base.errors import CounterfoilError

    try:
        if given.what == "changelog":
            sys.stdout.write(changelog_section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), given.version))
        elif given.what == "sbom":
            print(json.dumps(sbom(), indent=1, sort_keys=True))
        else:
            sign_list(given.files, given.version, given.commit, given.key, given.out)
    except (ValueError, CounterfoilError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
