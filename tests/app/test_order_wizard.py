"""The order wizard: what was typed stays, what is wrong is said where it is, and what is saved is what was ordered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtPrintSupport import QPrinter
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from counterfoil import OrderError, order_forms
from counterfoil_app.looks import order_words
from counterfoil_app.model.order_plan import HIDDEN, TRIAL, OrderPlan, Stage, fits
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.digest_card import QUIET, Card, print_card, qr_code
from counterfoil_app.views.order_wizard import OrderWizard
from support.fake_engine import FakeEngine


@pytest.fixture
def wizard(window: MainWindow, qtbot: QtBot, settings: Settings, tmp_path: Path) -> Iterator[OrderWizard]:
    settings.folder = tmp_path
    window.commands["order_training"].trigger()
    found = window.orders.wizard
    assert found is not None
    qtbot.waitExposed(found)
    yield found
    window.orders.close()


def press(question: QMessageBox, text: str) -> None:
    next(button for button in question.buttons() if button.text() == text).click()


def choose(wizard: OrderWizard, name: str) -> None:
    forms = wizard.what.forms
    places = [n for n in range(forms.count()) if forms.item(n).data(Qt.ItemDataRole.UserRole) == name]
    forms.setCurrentRow(places[0])


def typed(wizard: OrderWizard, name: str, text: str) -> None:
    page = wizard.data if wizard.stage is Stage.DATA else wizard.settings
    control = next(fields.controls[name] for fields in page.fields if name in fields.controls)
    assert isinstance(control, QLineEdit)
    control.setText(text)


def tried(wizard: OrderWizard, qtbot: QtBot) -> None:
    wizard.go(Stage.TRY.value)
    wizard.forward()
    qtbot.waitUntil(lambda: wizard.ordering.written is not None)


def test_an_order_is_tried_shown_and_saved(
    wizard: OrderWizard, window: MainWindow, engine: FakeEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    for _ in range(2):
        wizard.forward()
    typed(wizard, "steps", "7")
    tried(wizard, qtbot)
    arguments, folder = engine.orders[-1]
    assert arguments[0] == "digits-cnn"
    assert arguments[-2:] == ("--steps", "7")
    assert folder is None
    wizard.forward()
    assert wizard.stage is Stage.SAVE
    written = wizard.ordering.written
    assert written is not None
    assert wizard.saving.card.digest.text().replace(" ", "").replace("\n", "") == written.digest
    with qtbot.waitSignal(window.orders.ordered) as saved:
        wizard.saving.save.click()
    assert saved.args == [tmp_path / "digits-cnn-order.cfoil", written]
    (case,) = window.cases.cases
    assert case.order == written.digest
    assert case.title == written.title
    assert (tmp_path / "digits-cnn-order.cfoil").read_bytes() == b"order"
    assert str(tmp_path / "digits-cnn-order.cfoil") in wizard.saving.notice.text()


def test_back_and_forward_lose_nothing(wizard: OrderWizard) -> None:
    wizard.go(Stage.SETTINGS.value)
    typed(wizard, "steps", "77")
    wizard.go(Stage.WHAT.value)
    choose(wizard, "logistic")
    wizard.go(Stage.SETTINGS.value)
    assert wizard.plan.value("steps") == "256"
    typed(wizard, "steps", "88")
    wizard.go(Stage.WHAT.value)
    choose(wizard, "digits-cnn")
    wizard.go(Stage.SETTINGS.value)
    assert wizard.plan.value("steps") == "77"
    control = wizard.settings.fields[0].controls["steps"]
    assert isinstance(control, QLineEdit)
    assert control.text() == "77"


def test_what_was_chosen_is_there_the_next_time(wizard: OrderWizard, window: MainWindow, settings: Settings) -> None:
    choose(wizard, "logistic")
    wizard.go(Stage.SETTINGS.value)
    typed(wizard, "steps", "99")
    wizard.reject()
    assert window.orders.wizard is None
    again = OrderPlan(settings.store)
    assert again.form.name == "logistic"
    assert again.value("steps") == "99"


def test_a_number_that_is_none_is_said_at_its_page(wizard: OrderWizard) -> None:
    wizard.go(Stage.SETTINGS.value)
    typed(wizard, "steps", "many")
    wizard.forward()
    assert wizard.stage is Stage.SETTINGS
    assert wizard.settings.notice.isVisible()
    assert "a whole number, 1 or more" in wizard.settings.notice.text()
    assert wizard.settings.fields[0].controls["steps"].property("tone") == "bad"


def test_data_that_are_needed_are_asked_for(wizard: OrderWizard) -> None:
    choose(wizard, "resnet")
    wizard.go(Stage.SETTINGS.value)
    assert wizard.stage is Stage.DATA
    assert "Data" in wizard.data.notice.text()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("option", "stage"),
    [("data", Stage.DATA), ("batch_size", Stage.SETTINGS), ("precision", Stage.SETTINGS), ("", Stage.TRY)],
)
def test_what_the_order_command_finds_is_said_at_its_page(
    option: str, stage: Stage, wizard: OrderWizard, engine: FakeEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    choose(wizard, "resnet")
    wizard.plan.set("data", str(tmp_path))
    engine.order_failure = OrderError("It cannot be so.", remedy="Choose another.", option=option)
    wizard.go(Stage.TRY.value)
    wizard.forward()
    qtbot.waitUntil(lambda: wizard.ordering.failure is not None and not wizard.ordering.working)
    assert wizard.stage is stage
    notice = wizard.pages[stage.value].notice
    assert notice.text() == "It cannot be so. Choose another."
    assert notice.isVisible()
    assert wizard.plan.value("data") == str(tmp_path)
    engine.order_failure = None
    tried(wizard, qtbot)


def test_a_failure_opens_the_settings_that_are_folded(wizard: OrderWizard, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.order_failure = OrderError("It cannot be so.", option="commit_every")
    wizard.go(Stage.TRY.value)
    wizard.forward()
    qtbot.waitUntil(lambda: wizard.stage is Stage.SETTINGS)
    qtbot.waitUntil(wizard.settings.fields[-1].controls["commit_every"].isVisible)


def test_the_trial_can_be_stopped_and_begun_again(wizard: OrderWizard, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.gate.clear()
    wizard.go(Stage.TRY.value)
    wizard.forward()
    qtbot.waitUntil(lambda: wizard.ordering.progress is not None)
    assert wizard.trying.bar.isVisible()
    assert not wizard.next.isEnabled()
    wizard.trying.stop.click()
    assert not wizard.ordering.working
    assert not wizard.trying.bar.isVisible()
    engine.gate.set()
    tried(wizard, qtbot)


def test_to_change_something_afterwards_asks_for_another_trial(wizard: OrderWizard, qtbot: QtBot) -> None:
    tried(wizard, qtbot)
    wizard.forward()
    assert wizard.stage is Stage.SAVE
    wizard.go(Stage.SETTINGS.value)
    typed(wizard, "seed", "5")
    wizard.go(Stage.SAVE.value)
    assert wizard.stage is Stage.TRY
    assert wizard.ordering.written is None


def test_without_a_trial_the_button_says_so(wizard: OrderWizard, engine: FakeEngine, qtbot: QtBot) -> None:
    wizard.go(Stage.TRY.value)
    wizard.trying.trial.setChecked(False)
    assert wizard.next.text().replace("&", "") == "Write the order"
    tried(wizard, qtbot)
    assert "--no-trial" in engine.orders[-1][0]
    assert wizard.plan.value(TRIAL) == "no"


def test_an_order_that_is_not_saved_is_not_left_unasked(wizard: OrderWizard, window: MainWindow, qtbot: QtBot) -> None:
    tried(wizard, qtbot)
    wizard.leave.click()
    question = wizard.findChild(QMessageBox, "leave-order-question")
    assert isinstance(question, QMessageBox)
    assert window.orders.wizard is wizard
    press(question, "Close without saving")
    assert window.orders.wizard is None


def test_a_file_that_exists_is_replaced_only_when_asked(
    wizard: OrderWizard, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.cfoil"
    mine.write_bytes(b"mine")
    tried(wizard, qtbot)
    wizard.forward()
    wizard.saving.target.setText(str(mine))
    wizard.saving.save.click()
    question = wizard.findChild(QMessageBox, "replace-question")
    assert isinstance(question, QMessageBox)
    assert mine.read_bytes() == b"mine"
    with qtbot.waitSignal(window.orders.ordered):
        press(question, "Replace")
    assert mine.read_bytes() == b"order"


def test_a_folder_that_is_not_there_is_said_and_the_order_stays(wizard: OrderWizard, qtbot: QtBot) -> None:
    tried(wizard, qtbot)
    wizard.forward()
    wizard.saving.target.setText("/no/such/folder/job.cfoil")
    wizard.saving.save.click()
    qtbot.waitUntil(wizard.saving.notice.isVisible)
    assert "no such folder" in wizard.saving.notice.text()
    assert wizard.ordering.written is not None


def test_the_command_follows_what_is_typed(wizard: OrderWizard, qtbot: QtBot, tmp_path: Path) -> None:
    tried(wizard, qtbot)
    wizard.forward()
    wizard.saving.target.setText(str(tmp_path / "my job.cfoil"))
    command = wizard.saving.command.text.toPlainText()
    assert command.endswith(f"--out '{tmp_path / 'my job.cfoil'}'")
    wizard.saving.command.copy.click()
    assert QGuiApplication.clipboard().text() == command
    assert wizard.card is not None
    assert command in wizard.card.as_text()


def test_data_are_looked_at(wizard: OrderWizard, qtbot: QtBot, tmp_path: Path) -> None:
    wizard.forward()
    preview = wizard.data.preview
    qtbot.waitUntil(lambda: preview.stack.currentWidget() is preview.images)
    assert preview.images.shown == 12
    wizard.go(Stage.WHAT.value)
    choose(wizard, "gpt2")
    wizard.forward()
    book = tmp_path / "book.txt"
    book.write_text("once upon a time")
    typed(wizard, "text", str(book))
    qtbot.waitUntil(lambda: preview.stack.currentWidget() is preview.text)
    assert preview.text.toPlainText() == "once upon a time"
    typed(wizard, "text", str(book) + "x")
    assert "no file" in preview.heading.text()


def test_data_that_cannot_be_looked_at_are_said(wizard: OrderWizard, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "odd.bin").write_bytes(b"")
    choose(wizard, "resnet")
    wizard.forward()
    typed(wizard, "data", str(tmp_path / "odd.bin"))
    qtbot.waitUntil(wizard.data.preview.problem.isVisible)
    assert "cannot be looked at" in wizard.data.preview.problem.text()


def test_own_code_runs_in_the_folder_of_its_script(
    wizard: OrderWizard, engine: FakeEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    script = tmp_path / "train.txt"  # what the fake engine shows as a text
    script.write_text("import torch")
    choose(wizard, "script")
    wizard.forward()
    assert wizard.data.heading.text() == "Code"
    typed(wizard, "script", str(script))
    typed(wizard, "arguments", "--lr 0.1")
    wizard.go(Stage.TRY.value)
    # Who lets a script run knows that it does.
    assert "The script itself runs here" in wizard.trying.lead.text()
    assert wizard.trying.command.text.toPlainText().startswith(f"cd {tmp_path} && counterfoil order --script")
    tried(wizard, qtbot)
    arguments, folder = engine.orders[-1]
    assert folder == tmp_path
    assert arguments[-3:] == ("--", "--lr", "0.1")
    wizard.go(Stage.WHAT.value)
    choose(wizard, "digits-cnn")
    wizard.go(Stage.TRY.value)
    assert "script" not in wizard.trying.lead.text()


def ordered_script(wizard: OrderWizard, qtbot: QtBot, folder: Path, **values: str) -> None:
    (folder / "train.txt").write_text("import torch")
    choose(wizard, "script")
    wizard.plan.set("script", str(folder / "train.txt"))
    for name, value in values.items():
        wizard.plan.set(name, value)
    tried(wizard, qtbot)
    wizard.forward()
    wizard.saving.target.setText(str(folder / "job.cfoil"))


def test_how_far_a_script_is_compared_and_what_it_is_answered_is_asked_for_of_scripts_alone(
    wizard: OrderWizard, engine: FakeEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    asked = {form.name: {option.name for option in form.options} for form in order_forms()}
    of_scripts = {"compare", "answer", "network"}
    assert of_scripts <= asked["script"]
    assert "second_look" not in asked["script"]
    assert "second_look" in asked["own"]
    # An evaluation is compared with its script, too; it asks nothing back.
    assert of_scripts & asked["scoring-script"] == {"compare"}
    assert not any(of_scripts & asked[name] for name in asked if name not in ("script", "scoring-script"))
    values = {"compare": "7", "answer": "train.py:4=yes no", "network": "no"}
    ordered_script(wizard, qtbot, tmp_path, **values)
    arguments, _ = engine.orders[-1]
    given = arguments[arguments.index("--compare") :]
    assert given[:2] == ("--compare", "7")
    assert given[2:6] == ("--answer", "train.py:4=yes", "--answer", "no")
    assert "--no-network" in given


def test_the_comparison_with_a_script_is_saved_with_its_order(
    wizard: OrderWizard, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    ordered_script(wizard, qtbot, tmp_path)
    with qtbot.waitSignal(window.orders.ordered):
        wizard.saving.save.click()
    assert (tmp_path / "job.cfoil").read_bytes() == b"order"
    assert (tmp_path / "job.comparison.json").read_bytes() == b"comparison"


def test_the_comparison_of_an_order_that_is_replaced_does_not_stay(
    wizard: OrderWizard, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "job.comparison.json").write_bytes(b"of another order")
    ordered_script(wizard, qtbot, tmp_path, compare="0")
    wizard.saving.save.click()
    question = wizard.findChild(QMessageBox, "replace-question")
    assert isinstance(question, QMessageBox)
    with qtbot.waitSignal(window.orders.ordered):
        press(question, "Replace")
    assert (tmp_path / "job.cfoil").read_bytes() == b"order"
    assert not (tmp_path / "job.comparison.json").exists()


def test_a_profile_is_chosen_by_what_it_costs(wizard: OrderWizard) -> None:
    wizard.go(Stage.SETTINGS.value)
    page = wizard.settings
    names = [item.text() for row in range(page.costs.rowCount()) if (item := page.costs.item(row, 0))]
    page.costs.selectRow(names.index("exact-13"))
    assert wizard.plan.value("precision") == "exact-13"
    assert page.profile.currentText() == "exact-13"
    page.profile.setCurrentText("float64-18")
    assert wizard.plan.value("precision") == "float64-18"
    assert not page.costs.selectedItems()


def test_every_option_has_a_name_and_a_place() -> None:
    labels = order_words.labels()
    for form in order_forms():
        for option in form.options:
            if option.name in HIDDEN:
                continue
            assert option.name in labels, option.name
            assert option.help, option.name
        assert order_words.form_title(form.name, "?") != "?"
        assert order_words.form_about(form.name, "?") != "?"


def test_all_controls_are_named(wizard: OrderWizard) -> None:
    for form in order_forms():
        choose(wizard, form.name)
        for page in wizard.pages:
            page.enter()
            for kind in (QLineEdit, QComboBox, QCheckBox, QPushButton):
                for control in page.findChildren(kind):
                    assert control.accessibleName() or getattr(control, "text", str)(), (form.name, control)


def test_mnemonics_lead_to_fields_and_differ(wizard: OrderWizard, qtbot: QtBot) -> None:
    tried(wizard, qtbot)
    wizard.forward()
    texts = [each.text() for each in wizard.findChildren(QPushButton) if each.isVisible()]
    texts += [each.text() for each in wizard.saving.findChildren(QLabel) if each.buddy() is not None]
    letters = [text[text.index("&") + 1].lower() for text in texts if "&" in text]
    assert len(letters) == len(set(letters)), letters


@pytest.mark.parametrize(
    ("kind", "text", "good"),
    [("steps", "3", True), ("steps", "0", False), ("steps", "3.5", False), ("steps", "", True),
     ("learning_rate", "1e-3", True), ("learning_rate", "-1", False), ("learning_rate", "nan", False),
     ("seed", str(2**64 - 1), True), ("seed", str(2**64), False)],
)  # fmt: skip
def test_what_fits(kind: str, text: str, good: bool) -> None:
    option = order_forms()[0].option(kind)
    assert option is not None
    assert fits(option, text) is good


def modules(image: QImage, side: int) -> list[list[int]]:
    step = image.width() // side
    return [
        [int(image.pixelColor(x * step + step // 2, y * step + step // 2).lightness() < 128) for x in range(side)]
        for y in range(side)
    ]


def test_the_qr_code_has_every_module_of_the_digest() -> None:
    import segno

    digest = "0123456789abcdef" * 4
    expected = [list(row) for row in segno.make(digest, error="m", micro=False).matrix]
    side = len(expected) + 2 * QUIET
    found = modules(qr_code(digest, 300), side)
    assert [row[QUIET:-QUIET] for row in found[QUIET:-QUIET]] == expected
    assert not any(any(row) for row in (*found[:QUIET], *found[-QUIET:]))


def test_a_card_is_printed_with_digest_code_and_command(wizard: OrderWizard, qtbot: QtBot, tmp_path: Path) -> None:
    tried(wizard, qtbot)
    card = wizard.card
    assert isinstance(card, Card)
    text = card.document().toPlainText()
    for line in card.digest_lines:
        assert line in text
    assert card.command in text
    printer = QPrinter()
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "card.pdf"))
    print_card(card, printer)
    assert (tmp_path / "card.pdf").read_bytes().startswith(b"%PDF-")
    assert (tmp_path / "card.pdf").stat().st_size > 5000


def test_a_stranger_in_a_title_stays_text_on_the_card(wizard: OrderWizard, qtbot: QtBot) -> None:
    from dataclasses import replace

    tried(wizard, qtbot)
    assert wizard.card is not None
    card = replace(wizard.card, order=replace(wizard.card.order, title="<img src='file:///etc/passwd'><b>x"))
    assert "<b>x" in card.document().toPlainText()
