"""What earlier releases wrote is read, and comes to the outcome that it had."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import counterfoil
from counterfoil import Digest
from counterfoil.cli import main

HERE = Path(__file__).parent
RELEASES = sorted(path.parent for path in HERE.glob("*/digests.json"))
KEPT = {
    "order.cfoil", "run.cfoil", "lie.cfoil", "lie.capsule.cfoil", "run.verdict.json", "lie.verdict.json",
    "lie.adjudication.json", "files.release.json", "trainer.pub.pem", "auditor.pub.pem", "builder.pub.pem",
}  # fmt: skip

every_release = pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)


def test_this_version_has_a_folder() -> None:
    assert counterfoil.__version__ in [path.name for path in RELEASES]


@every_release
def test_no_file_of_a_release_changed(release: Path) -> None:
    digests = json.loads((release / "digests.json").read_text())
    assert set(digests) >= KEPT
    assert {name: Digest.of_file(release / name).hex for name in digests} == digests
    assert sum((release / name).stat().st_size for name in digests) < 2**20


@every_release
@pytest.mark.parametrize(("name", "code"), [("run", 0), ("lie", 1)])
def test_runs_come_to_the_outcome_that_they_had(release: Path, name: str, code: int) -> None:
    assert main(["audit", str(release / f"{name}.cfoil"), "--order", str(release / "order.cfoil"),
                 "--trainer-key", str(release / "trainer.pub.pem")]) == code  # fmt: skip


@every_release
def test_capsules_come_to_the_outcome_that_they_had(release: Path) -> None:
    assert main(["adjudicate", str(release / "lie.capsule.cfoil"), "--order", str(release / "order.cfoil")]) == 1


@every_release
@pytest.mark.parametrize(
    ("name", "about", "code"),
    [
        ("run.verdict.json", "run.cfoil", 0),
        ("lie.verdict.json", "lie.cfoil", 1),
        ("lie.adjudication.json", "lie.capsule.cfoil", 1),
        ("run.verdict.json", "lie.cfoil", 3),
    ],
)
def test_what_was_signed_is_read_and_says_what_it_said(release: Path, name: str, about: str, code: int) -> None:
    key = str(release / "auditor.pub.pem")
    assert main(["verify", str(release / name), "--key", key, str(release / about)]) == code


@every_release
def test_the_signed_list_is_read(release: Path) -> None:
    given = [str(path) for path in sorted(release.glob("*.cfoil"))]
    key = str(release / "builder.pub.pem")
    assert main(["verify", str(release / "files.release.json"), *given, "--key", key, "--all"]) == 0


def test_the_promise_names_every_format_and_its_number() -> None:
    """The numbers on the page are those of the program."""
    from counterfoil_core.bundle import schema
    from counterfoil_core.signing.kinds import KINDS

    page = (HERE.parents[1] / "docs" / "format-promise.md").read_text(encoding="utf-8")
    assert {predicate for kind in KINDS for predicate in kind.predicates} <= set(
        re.findall(r"`(urn:counterfoil:[a-z-]+:v\d+)`", page)
    )
    for what, number in (
        ("Bundle", schema.FORMAT_VERSION),
        ("Data file", schema.DATA_FORMAT_VERSION),
        ("Dispute capsule", schema.CAPSULE_FORMAT_VERSION),
    ):
        assert f"| {what} | {number} |" in page
