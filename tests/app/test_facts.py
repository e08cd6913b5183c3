"""The facts of a run and rules on it in the window: what the engine says is shown, copied, saved and stopped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

import counterfoil
from counterfoil import CancelToken, CounterfoilError, OperationCount, RuleOutcome, RunFacts
from counterfoil.audit.runfacts import facts_of as facts_here
from counterfoil.signing.kinds import Withdrawal
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.trust.afterwards import verdict_digest
from counterfoil_app.engine.port import FactsRequest, RulesRequest
from counterfoil_app.engine.process import ProcessEngine
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views import layouts
from counterfoil_app.views.facts_dialog import FactsDialog
from counterfoil_app.views.rules_dialog import RulesDialog
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.kinds import json_of
from counterfoil_core.signing.statements import sign_said
from counterfoil_core.statement.factfields import fields_of
from counterfoil_core.statement.verdict import sign_verdict
from counterfoil_core.values.runfacts import Score, ScoreCount
from counterfoil_resources.digits import load_digits
from support.fake_engine import AUDITOR, FACTS, RULES, FakeEngine
from support.reports import verified_report
from support.trusted import store_of
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]


def facts_of(window: MainWindow) -> FactsDialog:
    window.commands["facts"].trigger()
    found = window.findChild(FactsDialog)
    assert isinstance(found, FactsDialog)
    return found


def rules_of(window: MainWindow) -> RulesDialog:
    window.commands["rules"].trigger()
    found = window.findChild(RulesDialog)
    assert isinstance(found, RulesDialog)
    return found


def texts(dialog: FactsDialog | RulesDialog) -> set[str]:
    return {each.text() for each in dialog.findChildren(QLabel) if each.isVisible()}


def drop(dialog: RulesDialog, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    dialog.dropEvent(
        QDropEvent(
            QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        )
    )


# Facts


def test_the_facts_of_the_open_run_are_shown(
    opened: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    dialog = facts_of(opened)
    qtbot.waitUntil(lambda: dialog.count.found is not None)
    assert engine.facts_asked == [FactsRequest(bundle)]
    wanted = {"19,642", "SGD, momentum 0.9", "60 of 60 ordered, 32 rows each", "the order is not signed"}
    qtbot.waitUntil(lambda: wanted | {"2026-11-26 08:26:50 UTC", "3 min 20 s", "98,304"} <= texts(dialog))
    assert {FACTS.order.hex, FACTS.run_root.hex, FACTS.trainer_key} <= {
        each.toolTip() for each in dialog.findChildren(QLabel)
    }
    operations = [[column.text(each) for column in dialog.operations.columns] for each in dialog.operations.records]
    assert operations == [
        ["forward", "convolution", "float64", "2,048,655,360"],
        ["update", "other", "integers", "18,446,744,073,709,551,617"],  # more than an integer of Qt's
    ]
    assert [column.text(FACTS.data[0]) for column in dialog.data.columns] == [
        "images", "uint8", "1,797 \u00d7 8 \u00d7 8", FACTS.data[0].digest.short, "1,920", "1,792", "1.068",
        "122,880", "7",
    ]  # fmt: skip
    dialog.reject()


def test_the_score_of_an_evaluation_comes_first(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    counts = (ScoreCount("correct", (), (1234,)), ScoreCount("counted", (), (1500,)), ScoreCount("odd", (), (7,)),
              ScoreCount("confusion", (2, 2), (600, 66, 200, 634)), ScoreCount("lie", (3,), (1,)))  # fmt: skip
    score = Score(Digest.of(b"model"), Digest.of(b"data"), counts)
    engine.facts = replace(FACTS, score=score)
    dialog = facts_of(opened)
    said = "1,234 of 1,500 right (82.27 %), macro F1 0.8226, odd 7"
    qtbot.waitUntil(lambda: {said, "Model root", "Data root"} <= texts(dialog))
    assert dialog.headline.text() == said
    assert {score.model_root.hex, score.data_root.hex} <= {each.toolTip() for each in dialog.findChildren(QLabel)}
    cells = [tuple(column.text(one) for column in dialog.counts.columns) for one in dialog.counts.records]
    assert cells == [
        ("correct", "", "1,234"), ("counted", "", "1,500"), ("odd", "", "7"), ("confusion", "[0, 0]", "600"),
        ("confusion", "[0, 1]", "66"), ("confusion", "[1, 0]", "200"), ("confusion", "[1, 1]", "634"),
    ], "and nothing of a count that is no such array as it says"  # fmt: skip
    dialog.copy.click()
    assert QApplication.clipboard().text().splitlines()[0] == said
    assert "confusion\t[0, 1]\t66" in QApplication.clipboard().text()
    wide = dialog.width()
    engine.facts = replace(FACTS, score=replace(score, counts=(ScoreCount("x" * 2000, (), (1,)),)))
    dialog.start.click()
    qtbot.waitUntil(lambda: dialog.headline.text().startswith("xxx"))
    assert dialog.width() == wide, "a stranger's longest word makes no dialog wider than the screen"
    assert f"Model root\t{score.model_root.hex}" in QApplication.clipboard().text()
    dialog.reject()


def test_they_are_copied_and_saved_as_they_are(
    opened: MainWindow, engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    engine.facts = replace(FACTS, title="<b>Job</b>\x1b[31m", machine=(("device", "cpu\x07"),))
    dialog = facts_of(opened)
    qtbot.waitUntil(lambda: dialog.count.found is not None)
    dialog.copy.click()
    copied = QApplication.clipboard().text()
    assert f"Run root\t{FACTS.run_root.hex}" in copied
    assert "update\tother\tintegers\t18,446,744,073,709,551,617" in copied
    assert FACTS.data[0].digest.hex in copied, "what is shortened in the table is copied whole"
    assert "\x1b" not in copied
    assert "\x07" not in copied
    target = tmp_path / "saved.json"
    monkeypatch.setattr(layouts, "new_file", lambda *_given, **_named: target)
    with qtbot.waitSignal(opened.session.exports.finished):
        dialog.choose.click()
    assert json.loads(target.read_text()) == json_of(fields_of(engine.facts)), "what is saved is what the engine said"
    assert target.read_bytes().isascii()
    dialog.reject()


def test_nothing_is_saved_over_the_open_run(
    opened: MainWindow, bundle: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    dialog = facts_of(opened)
    qtbot.waitUntil(lambda: dialog.count.found is not None)
    before = bundle.read_bytes()
    monkeypatch.setattr(layouts, "new_file", lambda *_given, **_named: bundle)
    monkeypatch.setattr(opened, "_failed", lambda _failure: None)
    with qtbot.waitSignal(opened.session.exports.failed):
        dialog.choose.click()
    assert bundle.read_bytes() == before
    dialog.reject()


def test_the_count_shows_its_progress_and_is_stopped(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.facts_gate.clear()
    dialog = facts_of(opened)
    qtbot.waitUntil(lambda: dialog.progress.value() == 500)
    assert dialog.sentence.text() == "Comparing the recorded steps with the signed run root"
    assert dialog.progress.isVisible()
    assert not dialog.choose.isEnabled()
    assert not dialog.copy.isEnabled()
    dialog.stop.click()
    assert dialog.headline.text() == "Not counted"
    assert not dialog.progress.isVisible()
    engine.facts_gate.set()
    dialog.start.click()
    qtbot.waitUntil(lambda: dialog.count.found is not None)
    dialog.reject()


def test_a_run_that_does_not_hold_shows_no_facts(opened: MainWindow, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.facts_error = CounterfoilError(say("The run was altered."), remedy=say("Ask for it again."))
    dialog = facts_of(opened)
    qtbot.waitUntil(lambda: dialog.count.failure is not None)
    assert dialog.sentence.text() == "The run was altered. Ask for it again."
    assert not dialog.choose.isEnabled()
    assert "19,642" not in texts(dialog)
    dialog.reject()


def test_an_order_that_nobody_has_run_has_neither(window_of: MakeWindow, bundle: Path, qtbot: QtBot) -> None:
    window = window_of(FakeEngine(has_run=False))
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    assert not window.commands["facts"].isEnabled()
    assert not window.commands["rules"].isEnabled()
    assert window.lookups.show_facts() is None
    assert window.lookups.show_rules() is None


# Rules


def test_rules_are_chosen_and_each_is_shown_with_what_binds_it(
    opened: MainWindow, engine: FakeEngine, bundle: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    dialog = rules_of(opened)
    assert not dialog.start.isEnabled()
    assert engine.facts_asked == []
    rules = bundle.with_name("rules.toml")
    monkeypatch.setattr("counterfoil_app.views.rules_dialog.existing_file", lambda *_given, **_named: rules)
    dialog.choose.click()
    qtbot.waitUntil(lambda: dialog.check.found is not None)
    assert engine.facts_asked == [RulesRequest(bundle, rules, (), opened.key_book.store)]
    lines = [[column.text(each) for column in dialog.model.columns] for each in dialog.model.records]
    assert [line[:3] for line in lines] == [
        ["broken", "data.must", "order digest"],
        ["cannot be told", "verdict", "nothing"],
        ["held", "compute.operations", "order digest, run root"],
    ]
    assert dialog.headline.text().startswith("BROKEN")
    assert dialog.sentence.text() == "Held: 1. Broken: 1. Cannot be told: 1."
    assert dialog.detail.text() == f"data.must: {RULES.results[1].said}"
    dialog.table.selectRow(1)
    assert dialog.detail.text().startswith("verdict: No verdict was given")
    dialog.reject()


@pytest.mark.parametrize(
    ("outcomes", "headline"),
    [
        ((RuleOutcome.HELD,), "HELD: the run holds every rule"),
        ((RuleOutcome.HELD, RuleOutcome.CANNOT_BE_TOLD), "CANNOT BE TOLD: nothing says whether a rule is held"),
        ((RuleOutcome.CANNOT_BE_TOLD, RuleOutcome.BROKEN), "BROKEN: the run breaks a rule"),
    ],
)
def test_what_they_come_to_is_the_headline(
    opened: MainWindow, engine: FakeEngine, outcomes: tuple[RuleOutcome, ...], headline: str, qtbot: QtBot
) -> None:
    results = tuple(replace(RULES.results[0], outcome=outcome) for outcome in outcomes)
    engine.rules = replace(RULES, results=results)
    dialog = rules_of(opened)
    drop(dialog, Path("rules.toml"))
    qtbot.waitUntil(lambda: dialog.check.found is not None)
    assert dialog.headline.text() == headline
    dialog.reject()


def test_rules_and_verdicts_are_dropped_and_verdicts_left_out(
    opened: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    rules, verdict = bundle.with_name("rules.toml"), bundle.with_name("v.json")
    dialog = rules_of(opened)
    drop(dialog, verdict, rules)
    qtbot.waitUntil(lambda: dialog.check.found is not None)
    last = engine.facts_asked[-1]
    assert isinstance(last, RulesRequest)
    assert (last.rules, last.verdicts) == (rules, (verdict,))
    assert "v.json" in dialog.given.text()
    dialog.leave_out.click()
    qtbot.waitUntil(lambda: dialog.check.found is not None)
    last = engine.facts_asked[-1]
    assert isinstance(last, RulesRequest)
    assert last.verdicts == ()
    assert not dialog.leave_out.isVisible()
    dialog.reject()


def test_a_check_that_cannot_be_made_says_why_and_is_made_again(
    opened: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    engine.facts_error = CounterfoilError(say("{0} is no TOML file.", "r.toml"))
    dialog = rules_of(opened)
    drop(dialog, bundle.with_name("r.toml"))
    qtbot.waitUntil(lambda: dialog.check.failure is not None)
    assert dialog.sentence.text() == "r.toml is no TOML file."
    assert not dialog.table.isVisible()
    engine.facts_error = None
    dialog.start.click()
    qtbot.waitUntil(lambda: dialog.check.found is not None)
    assert dialog.table.isVisible()
    dialog.reject()


def test_another_key_checks_again_while_the_dialog_is_open(
    opened: MainWindow, engine: FakeEngine, bundle: Path, qtbot: QtBot
) -> None:
    dialog = rules_of(opened)
    drop(dialog, bundle.with_name("rules.toml"))
    qtbot.waitUntil(lambda: dialog.check.found is not None)
    opened.keys.note_mine(AUDITOR, "auditor.pem", "Mine")
    qtbot.waitUntil(lambda: len(engine.facts_asked) == 2 and dialog.check.found is not None)
    last = engine.facts_asked[-1]
    assert isinstance(last, RulesRequest)
    assert last.store.auditors == (AUDITOR,)
    dialog.reject()
    opened.key_book.remove(opened.key_book.keys[-1].key_id)  # nobody listens any more


# The real engine


@pytest.fixture(scope="module")
def real_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("facts")
    images, labels = load_digits()
    order = counterfoil.order_digits(
        images[:100], labels[:100], steps=4, batch_size=8, width=8, checkpoint_every=2, seed=5
    )
    order.write(folder / "job.cfoil")
    for _ in counterfoil.record(folder / "job.cfoil", folder / "run.cfoil", key_from_seed(b"\x01" * 32)):
        pass
    return folder / "run.cfoil"


@pytest.fixture
def process() -> Iterator[ProcessEngine]:
    engine = ProcessEngine()
    yield engine
    engine.close()


@pytest.mark.slow
def test_the_engines_process_counts_and_checks(
    process: ProcessEngine, real_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its box, with a run, rules and a verdict; and nothing is shown of a run of which a byte was changed."""
    monkeypatch.delenv("COUNTERFOIL_SANDBOX", raising=False)
    run = tmp_path / "run.cfoil"
    shutil.copy(real_run, run)
    *before, facts = process.run_facts(FactsRequest(run), CancelToken())
    assert isinstance(facts, RunFacts)
    assert facts == facts_here(run), "it is what the command counts"
    assert [each.done for each in before] == sorted({each.done for each in before})
    assert json.loads(process.facts_as_json(facts)) == json_of(fields_of(facts))
    rules = tmp_path / "rules.toml"
    allowed = facts.total_operations
    rules.write_text(f'title = "Small"\n[compute]\noperations = [0, {allowed}]\nparameters = [0, 1]\n')
    *_, checked = process.check_rules(RulesRequest(run, rules), CancelToken())
    assert [each.outcome for each in checked.results] == [RuleOutcome.HELD, RuleOutcome.BROKEN]
    assert (checked.title, checked.run_root, checked.outcome) == ("Small", facts.run_root, RuleOutcome.BROKEN)
    altered = bytearray(run.read_bytes())
    place = altered.find(facts.run_root.value)
    place = len(altered) // 2 if place < 0 else place
    altered[place] ^= 1
    run.write_bytes(bytes(altered))
    with pytest.raises(CounterfoilError):
        list(process.run_facts(FactsRequest(run), CancelToken()))
    with pytest.raises(CounterfoilError):
        list(process.check_rules(RulesRequest(run, rules), CancelToken()))


def test_a_verdict_counts_with_its_auditors_key_alone(process: ProcessEngine, real_run: Path, tmp_path: Path) -> None:
    run = real_run
    auditor, other = key_from_seed(b"\x07" * 32), key_from_seed(b"\x08" * 32)
    *_, facts = process.run_facts(FactsRequest(run), CancelToken())
    assert isinstance(facts, RunFacts)
    report = replace(
        verified_report(), run_root=facts.run_root, trainer_key=facts.trainer_key,
        order_digest=facts.order, run_order=facts.order,
    )  # fmt: skip
    verdict, rules = tmp_path / "v.json", tmp_path / "rules.toml"
    verdict.write_bytes(sign_verdict(report, auditor))
    rules.write_text(f'[verdict]\nauditors = ["{auditor.public.key_id}"]\n')

    def outcome(*keys: str) -> RuleOutcome:
        *_, checked = process.check_rules(RulesRequest(run, rules, (verdict,), store_of(*keys)), CancelToken())
        return checked.outcome

    *_, without = process.check_rules(RulesRequest(run, rules), CancelToken())
    assert without.outcome is RuleOutcome.CANNOT_BE_TOLD
    assert outcome(auditor.public.public) is RuleOutcome.HELD
    with pytest.raises(CounterfoilError, match=r"The verdict v\.json does not count"):
        outcome(other.public.public)
    taken_back = sign_said(Withdrawal(verdict_digest(verdict.read_bytes()), "No.", None), auditor)
    (tmp_path / "back.json").write_bytes(taken_back)
    assert outcome(auditor.public.public) is RuleOutcome.CANNOT_BE_TOLD, "it was withdrawn in a file beside it"


def test_an_order_of_more_operations_than_an_integer_holds_passes(process: ProcessEngine) -> None:
    facts = replace(FACTS, operations=(OperationCount("forward", "other", 10**30, "float32"),))
    assert json.loads(process.facts_as_json(facts))["total_operations"] == str(10**30)
