"""Every text has a German translation, the compiled catalogue is current, and the German window shows no English."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QSettings, Qt, QTranslator, QUrl
from PySide6.QtGui import QAction, QImage, QTextDocument
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QDialog,
    QDockWidget,
    QLabel,
    QLineEdit,
    QMessageBox,
    QSpinBox,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from counterfoil import CheckNumber, CommandProgress, CounterfoilError, Sample
from counterfoil.training.stages import COMPARING, FOLLOWING, RUNNING
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import engine_words, order_words
from counterfoil_app.looks.language import LANGUAGES, choose_language
from counterfoil_app.main import TRANSLATIONS, make_window
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Settings
from counterfoil_app.shell.help import HelpWindow, help_pages
from counterfoil_app.shell.window import MainWindow
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.values.dispute import named_parts
from counterfoil_core.values.sampling import NonceSource, Selection
from support.fake_engine import FakeEngine
from support.scripts import load_script
from support.waiting import reached

ROOT = Path(__file__).resolve().parents[2]
PLACE = re.compile(r"\{\d*(?::[^{}]*)?\}")


script = load_script(ROOT / "packaging" / "translations.py")
CATALOGUE = script.CATALOGUES / "counterfoil_de.ts"


@pytest.fixture(scope="module")
def german() -> dict[object, str]:
    return dict(script.read_catalogue(CATALOGUE))


@pytest.fixture
def german_window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    settings = Settings(QSettings(str(tmp_path / "de.ini"), QSettings.Format.IniFormat))
    settings.language = "de"
    window = make_window(engine=FakeEngine(disputed=37), settings=settings)
    window.shell.samples.folder = tmp_path
    window.show()
    qtbot.waitExposed(window)
    yield window
    window.shell.close()
    window.session.shut_down()
    window.deleteLater()
    TRANSLATIONS.remove()
    QLocale.setDefault(QLocale.system())


# The catalogue


def test_every_text_is_translated_and_nothing_else(german: dict[object, str]) -> None:
    texts = script.all_texts()
    assert len(texts) > 400
    assert [text for text in texts if not german.get(text)] == [], "run make translations, and translate these"
    assert set(german) - set(texts) == set(), "run make translations: these are no longer in the source"


def test_places_and_mnemonics_survive_translation(german: dict[object, str]) -> None:
    for text, translation in german.items():
        source = text.source  # type: ignore[attr-defined]
        before, after = PLACE.findall(source), PLACE.findall(translation)
        if text.context == "engine":  # type: ignore[attr-defined]
            assert set(after) <= set(before), source  # a place may hold no more than the s of an English plural
        else:
            assert sorted(after) == sorted(before), source
        assert ("&" in source) == ("&" in translation), source
        assert source.endswith("\u2026") == translation.endswith("\u2026"), source


def test_compiled_catalogue_is_that_of_the_source(qapp: object, german: dict[object, str]) -> None:
    compiled = QTranslator()
    data = resources.files("counterfoil_resources").joinpath("translations", "counterfoil_de.qm").read_bytes()
    assert compiled.load(data)
    for text, translation in german.items():
        found = compiled.translate(text.context, text.source)  # type: ignore[attr-defined]
        assert (found or text.source) == translation, "run make translations"  # type: ignore[attr-defined]
    assert not compiled.translate("MainWindow", "no such text")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("class A:\n def f(self, x): return self.tr(x)", "no literal"),
        ('class A:\n def f(self, x): return x.tr("Hello")', "another object"),
        ('def f(): return _tr("Hello")', "does not define"),
        ('class A:\n def f(self, n): return self.tr(f"{n} steps")', "no literal"),
    ],
)
def test_texts_that_nobody_could_translate_are_refused(source: str, reason: str) -> None:
    with pytest.raises(script.UntranslatableError, match=reason):
        list(script.module_texts(source, "module.py"))


def test_collecting_finds_what_is_in_a_module() -> None:
    source = (
        '_tr = texts("parts")\n'
        'class A(QWidget):\n    def f(self):\n        self.tr("One")\n        _tr("Two")\n'
        '    class B(QWidget):\n        def g(self): return self.tr("Three").format(1)\n'
    )
    found = {(text.context, text.source) for text in script.module_texts(source, "m.py")}
    assert found == {("A", "One"), ("parts", "Two"), ("B", "Three")}


def test_catalogue_keeps_translations_and_tells_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "x.ts"
    one, two, moved = script.Text("A", "One <&>"), script.Text("A", "Two"), script.Text("B", "One <&>")
    assert script.write_catalogue(path, "de", [one, two], {one: "Eins <&>"}) == [two]
    read = script.read_catalogue(path)
    assert read == {one: "Eins <&>", two: ""}
    assert script.write_catalogue(path, "de", [moved], read) == []
    assert script.read_catalogue(path) == {moved: "Eins <&>"}


# The engine's sentences


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("say(text)", "no literal"),
        ('say(f"Step {n} differs.")', "no literal"),
        ('say("Step {0} differs.")', "a place for each value"),
        ('say("Step {0} differs.", 1, 2)', "a place for each value"),
        ('say("Step {0} differs.", *values)', "one by one"),
    ],
)
def test_sentences_that_nobody_could_translate_are_refused(source: str, reason: str) -> None:
    with pytest.raises(script.UntranslatableError, match=reason):
        list(script.templates(source, "module.py"))


def test_templates_are_collected_from_calls() -> None:
    source = 'x = say("Step {0} " "differs.", say("a {0:.3g}", 1.0), ) if y else joined(say("{0} {1}", a, b), say("c"))'
    assert list(script.templates(source, "module.py")) == ["Step {0} differs.", "a {0:.3g}", "c"]


def test_every_sentence_that_the_window_can_show_is_said() -> None:
    errors = script.error_names()
    assert {"BundleError", "MessageError", "CanonicalError", "ReportedError"} <= errors
    modules = list(script.shown_modules())
    assert len(modules) > 150
    assert [found for name, source in modules for found in script.unsaid(source, name, errors)] == []


@pytest.mark.parametrize(
    "source",
    [
        'raise BundleError("broken")',
        'raise BundleError(f"{name}")',
        'raise BundleError(sentence, remedy="again")',
        'raise BundleError(one if x else "broken")',
        'raise BundleError(one or f"{two}")',
        'raise BundleError("broken {0}".format(x))',
        'raise BundleError(one + "broken")',
        'raise BundleError(sentence=f"{x}")',
        'Check(number, state, "broken")',
        'Check(number, state, detail=f"{x}")',
        'Finding(right, "broken")',
        'Failure("broken", "", "", True)',
        'why = "The file is broken."',
        'why = f"{name} is broken."',
        'note(number, f"Of {n} steps {m} differ.")',
    ],
)
def test_a_sentence_that_is_not_said_is_found(source: str) -> None:
    """The control of the test above, and of what it lets pass."""
    assert len(list(script.unsaid(source, "module.py", frozenset({"BundleError"})))) == 1
    fine = (
        'raise BundleError(say("The file {0} is broken.", x), remedy=say("Again.") if x else "", detail="a b c d")\n'
        'raise ValueError("This is a fault of a program.")\nCheck(number, state, "")\nCheck(number, state, found)\n'
        'def f():\n    """This is what it does."""\n'
    )
    assert list(script.unsaid(fine, "module.py", frozenset({"BundleError"}))) == []


def test_the_made_up_engine_says_what_the_real_one_says() -> None:
    files = [ROOT / "tests" / "support" / name for name in ("fake_engine.py", "made_up_run.py")]
    said = {each for path in files for each in script.templates(path.read_text("utf-8"), path.name)}
    assert len(said) > 15
    assert said - set(script.engine_texts()) == set()


def test_sentences_of_the_engine_are_translated_with_their_values(german_window: MainWindow) -> None:
    found = engine_words.translate(say("Of {0} judged steps {1} differ; the first is {2}.", 60000, 2, 37))
    assert found == "Von 60.000 beurteilten Schritten weichen 2 ab; der erste ist 37."
    one = engine_words.translate(say("Of {0} judged steps one differs: {1}.", 57, 37))
    assert one == "Von 57 beurteilten Schritten weicht einer ab: 37."
    missing = CounterfoilError(
        say("There is no file {0}.", "/tmp/my key.pem"), remedy=say("Make one with 'counterfoil keygen'.")
    )
    several = engine_words.translate(joined(missing.__str__(), "Nobody knows this one.", say("Try again.")))
    assert several == (
        "Es gibt keine Datei /tmp/my key.pem. Erzeugen Sie eine mit 'counterfoil keygen'. "
        "Nobody knows this one. Versuchen Sie es noch einmal."
    )
    nested = engine_words.translate(
        say(
            "{0} Nothing can be concluded about the training.",
            say("The trainer signed {0} steps, but the order has {1}.", 3, 4),
        )
    )
    assert nested.startswith("Der Trainer hat 3 Schritte unterschrieben")
    assert nested.endswith("l\u00e4sst sich nichts schlie\u00dfen.")
    assert engine_words.translate(named_parts(("state", "loss", "fingerprints"))) == (
        "Zustand, Verlust und Fingerabdr\u00fccke"
    )
    assert engine_words.translate("") == ""
    assert engine_words.translate("All 3 judged steps match.") == "All 3 judged steps match.", "a plain text"
    drawn = Sample(12, ((1, 3),), Selection.RANDOM, "0" * 64, 2, NonceSource.DRAWN)
    sample = engine_words.translate(drawn.describe())
    assert drawn.describe().endswith("at least 2 bad segments would have passed with probability 0.545.")
    assert sample.startswith("Von allen (12 Segmente) wurden 3 zuf")
    assert "mindestens 2 davon" in sample
    assert "0,545" in sample
    room = CounterfoilError(
        say("{0:capital} cannot be written to {1}: {2}.", say("the verdict"), "x", say("the disk is full"))
    )
    assert engine_words.translate(room.sentence) == (
        "Das Urteil l\u00e4sst sich nicht nach x schreiben: der Datentr\u00e4ger ist voll."
    )


def test_the_stages_of_a_script_are_said_in_german(german_window: MainWindow) -> None:
    stages = (RUNNING, FOLLOWING, COMPARING)
    for stage in stages:
        begun = order_words.progress(CommandProgress(stage, "steps", 0, 0), None)
        counted = order_words.progress(CommandProgress(stage, "steps", 1200, 0), None)
        whole = order_words.progress(CommandProgress(stage, "steps", 3, 12), None)
        assert not any(stage in said for said in (begun, counted, whole)), stage
        assert counted.endswith(": bisher 1.200")
        assert whole.endswith(": 3 von 12")


def test_numbers_are_written_as_in_german(german_window: MainWindow) -> None:
    for value, form, shown in (
        (1234567, "{0}", "1.234.567"),
        (2**70, "{0}", str(2**70)),
        (1234.56, "{0:,.1f}", "1.234,6"),
        (0.125, "{0}", "0,125"),
        (0.00012345, "{0:.2g}", "0,00012"),
        (255, "{0:x}", "ff"),
    ):
        assert engine_words.translate(say(form, value)) == shown


def test_text_of_strangers_stays_in_its_place(german_window: MainWindow) -> None:
    """What a file says is neither translated nor filled in, and shows as visible characters."""
    hostile = "the verdict {0} \u202eAll"
    assert engine_words.translate(say("There is no file {0}.", hostile)) == (
        "Es gibt keine Datei the verdict {0} \\u202eAll."
    )
    shown = Failure.of(CounterfoilError(say("There is no file {0}.", hostile)))
    assert engine_words.failure_text(shown) == "Es gibt keine Datei the verdict {0} \\u202eAll."


def test_the_english_window_writes_the_numbers_of_the_engine_as_its_own(window: MainWindow) -> None:
    sentence = say("Of {0} judged steps {1} differ; the first is {2}.", 60000, 2, 37)
    assert engine_words.translate(sentence) == "Of 60,000 judged steps 2 differ; the first is 37."
    assert sentence == "Of 60000 judged steps 2 differ; the first is 37.", "which is what is signed"
    plain = "Of 60 replayed steps 2 differ; the first is 37. What {0} stands for stays. So does this."
    assert engine_words.translate(plain) == plain


# The window


def visible_texts(widget: QWidget) -> Iterator[str]:
    """Every text that a user can read or hear in a widget: of all its parts, hidden ones too, and its menus."""
    for part in [widget, *widget.findChildren(QWidget)]:
        yield from (part.toolTip(), part.accessibleName(), part.statusTip())
        if isinstance(part, (QLabel, QAbstractButton)):
            yield part.text()
        if isinstance(part, (QDialog, QDockWidget)):
            yield part.windowTitle()
        if isinstance(part, QLineEdit):
            yield part.placeholderText()
        if isinstance(part, QSpinBox):
            yield part.specialValueText()
        if isinstance(part, QComboBox):
            yield from (part.itemText(index) for index in range(part.count()))
        if isinstance(part, QMessageBox):
            yield from (part.text(), part.informativeText())
        if isinstance(part, QTableView) and part.model() is not None:
            model = part.model()
            for column in range(model.columnCount()):
                yield str(model.headerData(column, Qt.Orientation.Horizontal) or "")
                yield from (str(model.index(row, column).data() or "") for row in range(min(model.rowCount(), 60)))
    for action in widget.findChildren(QAction):
        yield from (action.text(), action.toolTip(), action.statusTip())


ARRAYS = {"images", "labels"}
"""Names of arrays of an order, the same in every language; an account of a dispute has words for them."""


def english(texts: Iterator[str], german: dict[object, str]) -> set[str]:
    """Those of the texts that were made from an English source which has another German translation."""
    fixed, patterns = set(), []
    shown = set(german.values())
    for text, translation in german.items():
        source = text.source  # type: ignore[attr-defined]
        if source == translation or source in shown or source in ARRAYS:
            continue
        if PLACE.search(source):
            if len(PLACE.sub("", source)) > 8:
                patterns.append(re.compile(".*".join(map(re.escape, PLACE.split(source)))))
        else:
            fixed.add(source.replace("&", "").rstrip("\u2026"))
    return {
        text
        for text in set(texts)
        if text.replace("&", "").rstrip("\u2026") in fixed or any(pattern.fullmatch(text) for pattern in patterns)
    }


def test_german_window_shows_no_english(
    german_window: MainWindow, german: dict[object, str], bundle: Path, qtbot: QtBot
) -> None:
    window = german_window
    assert english(visible_texts(window), german) == set()
    with qtbot.waitSignal(window.session.devices_changed):
        window.session.look_for_devices()
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    assert english(visible_texts(window), german) == set()
    window.commands["replay"].trigger()
    qtbot.waitUntil(reached(window, Phase.CONCLUDED), timeout=20_000)
    assert window.session.selected_step is not None
    assert english(visible_texts(window), german) == set()
    assert len(list(visible_texts(window))) > 500
    assert "etwas anderes berechnet als bestellt" in window.header.sentence.text()
    for show in (
        window.shell.show_preferences,
        window.shell.show_about,
        window.shell.show_shortcuts,
        window.shell.show_help,
        window.commands["verdict"].trigger,
    ):
        show()
    assert len(window.findChildren(QDialog)) >= 4
    # The signing dialog shows what is signed, in the words that are signed.
    report = window.session.report
    assert report is not None
    signed = [report.reason, *(check.detail for check in report.checks if check.detail)]
    found = {text for text in english(visible_texts(window), german) if not any(part in text for part in signed)}
    assert found == set()


def test_english_is_recognised(window: MainWindow, german: dict[object, str]) -> None:
    """The control of the test above: in the English window it finds English."""
    found = english(visible_texts(window), german)
    assert {"Run and keys", "&Open\u2026", "Copy all"} <= found


def test_qt_speaks_german_too(german_window: MainWindow) -> None:
    german_window.shell.show_preferences()
    dialog = german_window.findChildren(QDialog)[-1]
    assert "Abbrechen" in {button.text().replace("&", "") for button in dialog.findChildren(QAbstractButton)}
    assert QLocale().language() is QLocale.Language.German


def test_mnemonics_of_the_german_menus_differ(german_window: MainWindow, window: MainWindow) -> None:
    for each in (german_window, window):
        for menu in [each.menuBar(), *(action.menu() for action in each.menuBar().actions())]:
            letters = [
                match.group(1).casefold()
                for action in menu.actions()
                if (match := re.search(r"&(\w)", action.text())) is not None
            ]
            assert len(letters) == len(set(letters)), [action.text() for action in menu.actions()]


def test_language_is_the_chosen_one_or_the_systems() -> None:
    assert choose_language("de", QLocale("en_US")) == "de"
    assert choose_language("", QLocale("de_CH")) == "de"
    assert choose_language("", QLocale("fr_FR")) == "en"
    assert choose_language("xx", QLocale("en_GB")) == "en"


def test_english_comes_back(german_window: MainWindow) -> None:
    assert QCoreApplication.translate("MainWindow", "&Finding") == "&Befund"
    TRANSLATIONS.remove()
    assert QCoreApplication.translate("MainWindow", "&Finding") == "&Finding"


# The help


def test_help_has_the_same_pages_in_every_language() -> None:
    names = {code: [page.name for page in help_pages(code)] for code in LANGUAGES}
    assert len(names["en"]) >= 7
    assert all(pages == names["en"] for pages in names.values())
    assert {page.title for page in help_pages("de")}.isdisjoint(page.title for page in help_pages("en"))
    assert help_pages("xx") == help_pages("en")


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_links_of_the_help_lead_to_pages(language: str) -> None:
    pages = help_pages(language)
    links = [link for page in pages for link in re.findall(r"(?<!!)\[[^\]]*\]\(([^)]+)\)", page.markdown)]
    assert len(links) >= 6
    assert set(links) <= {page.name for page in pages}


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_the_help_shows_its_pictures(language: str, qtbot: QtBot) -> None:
    window = HelpWindow(language)
    qtbot.addWidget(window)
    shown = 0
    for row, page in enumerate(window.pages):
        window.list.setCurrentRow(row)
        for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.markdown):
            image = window.browser.document().resource(QTextDocument.ResourceType.ImageResource.value, QUrl(name))
            assert isinstance(image, QImage)
            assert 300 <= image.width() <= window.browser.viewport().width(), name
            shown += 1
    assert shown == 4


EMPHASISED = {
    "en": {"your", "contradictions", "omissions", "before", "after"},
    "de": {
        "Ihren", "Widerspruch", "Auslassung", "nicht beurteilte", "vor", "danach", "Beispiel",
    },
}  # fmt: skip
"""Words of the help that are set in italics and are no texts of the window, or not word for word."""


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_the_help_calls_things_as_the_window_does(language: str, german: dict[object, str]) -> None:
    texts = german.values() if language == "de" else [text.source for text in script.all_texts()]
    known = {re.sub("&(?!&)", "", text).rstrip("\u2026") for text in texts}
    named = {
        part
        for page in help_pages(language)
        for path in re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", page.markdown)
        for part in " ".join(path.split()).split(" > ")
    }
    assert len(named) >= 25
    assert named - known - EMPHASISED[language] == set()


def test_every_check_is_explained_or_named(german_window: MainWindow) -> None:
    titles = [engine_words.translate(number.title) for number in CheckNumber]
    assert len(set(titles)) == len(CheckNumber)
    assert json.dumps(titles) != json.dumps([number.title for number in CheckNumber])
