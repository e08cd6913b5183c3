"""docs/threat-model.md and the tests of this folder name the same attacks."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.pages import MEASURED, between

from counterfoil.audit.values.delivery import DeliveryOutcome
from counterfoil_core.values.outcome import Outcome

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "threat-model.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("|") and "`test_" in line]
NOT_ATTACKS = {"test_no_false_accusation.py", "test_threat_model.py"}


def test_every_attack_stands_in_a_table():
    named = set(re.findall(r"`(test_\w+\.py)`", "\n".join(ROWS)))
    assert named == {path.name for path in HERE.glob("test_*.py")} - NOT_ATTACKS


def test_every_row_says_what_is_concluded():
    outcomes = "|".join(outcome.value for outcome in (*Outcome, *DeliveryOutcome))
    for row in ROWS:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if len(cells) == 5:
            assert re.match(outcomes, cells[2]), row
        else:
            assert re.fullmatch(r"`test_\w*hdf5\w*\.py`", cells[1]), row


def test_an_outcome_that_a_row_promises_is_asserted_in_its_test():
    helpers = {"DISPUTED": "disputed(", "REFUSED": "refused(", "INCONCLUSIVE": "inconclusive(", "VERIFIED": "verified("}
    for row in ROWS:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if len(cells) != 5:
            continue
        source = "\n".join(
            (HERE / name).read_text(encoding="utf-8") for name in re.findall(r"`(test_\w+\.py)`", cells[4])
        )
        for outcome in re.findall("|".join(helpers), cells[2]):
            assert helpers[outcome] in source or f"Outcome.{outcome}" in source, (outcome, row)


def test_no_false_accusation_was_counted():
    measured = between(PAGE, MEASURED)
    (total,) = re.findall(r"^\| \*\*all\*\* \|.*$", measured, re.MULTILINE)
    replays, needed, *_, contradictions, omissions, disputes = (
        cell.strip() for cell in total.strip("|").split("|")[1:]
    )
    assert int(replays.replace(",", "")) >= 1000
    assert int(needed.replace(",", "")) > 0
    assert (contradictions, omissions, disputes) == ("0", "0", "0")
    assert f"{replays} of {replays} replays: VERIFIED" in measured
