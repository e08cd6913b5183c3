"""Settings, theme, start-up, names for screen readers, and what the window's thread may load."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QSettings, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDialog,
    QHeaderView,
    QLineEdit,
    QProgressBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from counterfoil import AuditRequest, CounterfoilError, Outcome, TrustFolder
from counterfoil_app.desktop import startup
from counterfoil_app.engine.worker import Failure
from counterfoil_app.looks import icons
from counterfoil_app.looks.fonts import fixed_font
from counterfoil_app.looks.theme import DARK, LIGHT, Theme, Tokens, Tone, style_sheet
from counterfoil_app.model.cases import Cases
from counterfoil_app.model.jobs import JOBS
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.model.settings import Setting, Settings, ThemeChoice
from counterfoil_app.model.unlocked_keys import UnlockedKeys
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.verdict.export import Unsigned, now
from counterfoil_app.verdict.signing_dialog import SigningDialog
from support.fake_engine import FakeEngine
from support.waiting import reached


def store(path: Path) -> QSettings:
    return QSettings(str(path / "s.ini"), QSettings.Format.IniFormat)


def test_settings_of_another_schema_are_not_misread(tmp_path: Path) -> None:
    raw = store(tmp_path)
    raw.setValue("schema", "99")
    raw.setValue("theme", "dark")
    raw.sync()
    assert Settings(store(tmp_path)).theme is ThemeChoice.SYSTEM


def test_a_fresh_start_leaves_what_is_stored_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts without the settings, and what is chosen then is forgotten: the user's file does not change."""
    path = tmp_path / "user.ini"
    monkeypatch.setattr(Settings, "_stored", staticmethod(lambda: QSettings(str(path), QSettings.Format.IniFormat)))
    mine = Settings.of_user()
    mine.theme = ThemeChoice.DARK
    mine.store.sync()
    before = path.read_bytes()
    fresh = Settings.of_user(fresh=True)
    assert fresh.theme is ThemeChoice.SYSTEM
    fresh.theme = ThemeChoice.LIGHT
    fresh.store.sync()
    assert path.read_bytes() == before
    assert Settings.of_user().theme is ThemeChoice.DARK
    # Results and known trainers are no settings.
    assert fresh.config_folder == mine.config_folder == tmp_path


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pipes, and Qt's place on Linux")
def test_a_pipe_in_the_place_of_a_file_of_the_users_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "Counterfoil"
    folder.mkdir()
    os.mkfifo(folder / "Counterfoil.conf")
    with pytest.raises(CounterfoilError, match="are no file"):
        Settings.of_user()
    for name in ("cases.json", "keys.json"):
        os.mkfifo(tmp_path / name)
    assert Cases(tmp_path / "cases.json").problem is not None
    with pytest.raises(CounterfoilError):
        TrustFolder(tmp_path).keys()


def test_junk_in_settings_falls_back(tmp_path: Path) -> None:
    settings = Settings(store(tmp_path))
    settings.store.setValue("theme", "purple")
    settings.store.setValue("folder", str(tmp_path / "gone"))
    settings.store.setValue("key_file", str(tmp_path / "gone.pem"))
    assert settings.theme is ThemeChoice.SYSTEM
    assert settings.folder == Path.home()
    assert settings.key_file is None


DECLARED = sorted(name for name, value in vars(Settings).items() if isinstance(value, Setting))


@pytest.mark.parametrize(
    "junk", [None, "", "junk", "-1", "9" * 30, "9" * 5000, "\0", 7, 0.5, True, ["", "x", 3], {"a": 1}, QByteArray(b"x")]
)
def test_whatever_the_store_holds_every_setting_has_a_value(tmp_path: Path, junk: object) -> None:
    """Each setting reads junk as something of its own kind, and can then be written and read again."""
    settings = Settings(store(tmp_path))
    kinds = {name: type(getattr(settings, name)) for name in DECLARED}
    for name in DECLARED:
        settings.store.setValue(name, junk)
        found = getattr(settings, name)
        assert isinstance(found, kinds[name]), name
        setattr(settings, name, found)
        assert getattr(settings, name) == found, name


def test_every_setting_survives_its_store(tmp_path: Path) -> None:
    file = tmp_path / "here.txt"
    file.touch()
    values = {
        "theme": ThemeChoice.DARK, "device": "cuda:1", "folder": tmp_path, "key_file": file, "language": "de",
        "text_percent": 150, "threads": 3, "notify": False, "stay_awake": False,
        "auditor_name": "Ada Pruefer", "workers": 2, "trainer_key_file": file,
        "geometry": QByteArray(b"\0geometry"), "key_minutes": 15, "searches": ("loss > 1",),
    }  # fmt: skip
    assert sorted(values) == DECLARED
    first = Settings(store(tmp_path))
    before = {name: getattr(first, name) for name in DECLARED}
    for name, value in values.items():
        assert before[name] != value, "else the test could not fail"
        setattr(first, name, value)
    first.keep_layout("behind", QByteArray(b"\0layout"))
    first.store.sync()
    again = Settings(store(tmp_path))
    assert {name: getattr(again, name) for name in DECLARED} == values
    assert again.layout("behind") == QByteArray(b"\0layout")
    assert again.layout("beside").isEmpty()


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast ratio."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


# Machado, Oliveira and Fernandes 2009, "A Physiologically-based Model for Simulation of Color Vision Deficiency": the
# matrices of severity 1, on linear RGB.
VISIONS = {
    "ordinary": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def seen(colour: str, vision: str) -> str:
    """A colour as somebody sees it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    mixed = [sum(a * b for a, b in zip(row, linear, strict=True)) for row in VISIONS[vision]]
    held = [min(1.0, max(0.0, c)) for c in mixed]
    back = [12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in held]
    return "#" + "".join(f"{round(255 * c):02x}" for c in back)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_steps_that_differ_are_told_apart_by_everybody(tokens: Tokens, vision: str) -> None:
    """WCAG 2.2, 1.4.11: three to one between areas beside each other, for each kind of colour vision."""
    same, differs, ground = (seen(colour, vision) for colour in (tokens.same, tokens.differs, tokens.background))
    assert contrast(same, differs) >= 3
    assert contrast(same, ground) >= 3
    assert contrast(differs, ground) >= 3
    if vision == "deuteranopia":
        assert contrast(seen(LIGHT.ok, vision), seen(LIGHT.bad, vision)) < 1.6, "control: the colours of words do not"


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read(tokens: Tokens) -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    for ground in (tokens.background, tokens.surface, tokens.stripe):
        assert contrast(tokens.text, ground) >= 7
        assert contrast(tokens.muted, ground) >= 4.5
    for tone in Tone:
        assert contrast(tokens.tone(tone), tokens.tint(tone)) >= 4.5
        assert contrast(tokens.text, tokens.tint(tone)) >= 7
    assert contrast(tokens.on_accent, tokens.accent) >= 4.5
    assert contrast(tokens.text, tokens.selection) >= 4.5
    assert contrast(tokens.text, tokens.bad_selected) >= 7
    assert contrast(tokens.bad_selected, tokens.bad_tint) >= 1.3
    assert contrast(tokens.text, tokens.progress) >= 4.5
    for curve in (tokens.trainer, tokens.replay, tokens.other, tokens.apart, tokens.log, tokens.corrected):
        assert contrast(curve, tokens.surface) >= 3


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_style_sheet_has_all_its_tokens(tokens: Tokens) -> None:
    sheet = style_sheet(tokens)
    assert "$" not in sheet
    assert all(value.startswith("#") and len(value) == 7 for key, value in asdict(tokens).items() if key != "name")


def test_theme_can_be_switched(opened: MainWindow) -> None:
    opened.theme.choose(ThemeChoice.DARK)
    assert opened.theme.tokens == DARK
    assert opened.palette().window().color().name() == DARK.background
    assert opened.divergence.canvas.backgroundBrush().color().name() == DARK.surface
    opened.theme.choose(ThemeChoice.LIGHT)
    assert opened.palette().window().color().name() == LIGHT.background


def test_icons_are_drawn_in_their_colour(qapp: object) -> None:
    image = icons.pixmap("stop", "#a8201a", 24).toImage()
    assert image.pixelColor(12, 12).name() == "#a8201a"
    assert image.pixelColor(0, 0).alpha() == 0


def test_every_control_has_a_name(opened: MainWindow) -> None:
    # Qt's own inner parts (scroll bars, the line edit of a spin box, dock buttons) carry names starting with qt_.
    kinds = (QAbstractButton, QComboBox, QLineEdit, QProgressBar, QAbstractItemView)
    nameless = [
        widget
        for widget in opened.findChildren(QWidget)
        if isinstance(widget, kinds)
        and not isinstance(widget, QHeaderView)
        and not widget.objectName().startswith("qt_")
        and not isinstance(widget.parent(), (QComboBox, QAbstractItemView))
        and type(widget).__name__ not in ("QComboBoxListView", "QToolButton")
        and widget.isVisible()
        and not (widget.accessibleName() or getattr(widget, "text", str)())
    ]
    assert nameless == []


def nameless(top: QWidget) -> list[str]:
    """What takes the keyboard and has no name for a screen reader; parts of a control are named by that."""
    return [
        f"{type(part).__name__} in {type(part.parent()).__name__}"
        for part in (top, *top.findChildren(QWidget))
        if part.focusPolicy() & Qt.FocusPolicy.TabFocus
        and part.window() is top
        and part.isVisibleTo(top)
        and part.focusProxy() is None
        and not QAccessible.queryAccessibleInterface(part).text(QAccessible.Text.Name).strip()
    ]


DIALOGS = (
    "about", "compare_bundles", "compare_providers", "connect", "facts", "find", "follow_recording", "keys", "ledger",
    "locate", "machine", "open_address", "order_training", "plan", "preferences", "results", "rules", "shortcuts",
    "verdict", *(job.name for job in JOBS),
)  # fmt: skip


def test_whatever_takes_the_keyboard_has_a_name(opened: MainWindow, qtbot: QtBot) -> None:
    opened.commands["replay"].trigger()
    qtbot.waitUntil(reached(opened, Phase.CONCLUDED), timeout=20_000)
    for name in opened.docks:
        opened.desk.show_view(name)
        assert nameless(opened) == [], name
    for name in DIALOGS:
        opened.commands[name].trigger()
        shown = [part for part in QApplication.topLevelWidgets() if part.isVisible() and isinstance(part, QDialog)]
        assert shown, name
        for dialog in shown:
            assert nameless(dialog) == [], name
            dialog.close()
    opened.jobs.close()
    qtbot.waitUntil(lambda: not opened.session.busy)


def test_the_palette_has_every_action_and_shortcuts_differ(opened: MainWindow) -> None:
    commands = [action for _where, action in opened.menus.commands()]
    assert all(action in commands for action in opened.actions())
    shortcuts = [action.shortcut().toString() for action in commands if action.shortcut().toString()]
    assert len(shortcuts) == len(set(shortcuts))
    assert len(shortcuts) >= 12


def test_signing_dialog_says_what_is_missing(qtbot: QtBot, tmp_path: Path, bundle: Path, settings: Settings) -> None:
    engine = FakeEngine()
    report = engine.report(AuditRequest(bundle, None, "cpu"), engine.checks(None), 60, Outcome.VERIFIED)
    theme = Theme(QApplication.instance(), ThemeChoice.LIGHT)
    keys = tmp_path / "keys"
    keys.mkdir()
    dialog = SigningDialog(report, None, keys, tmp_path / "v.json", (), UnlockedKeys(settings), theme)
    qtbot.addWidget(dialog)
    assert dialog.create_new.isChecked()
    assert (dialog.ok.isEnabled(), dialog.hint.text()) == (False, "The statement is being prepared.")
    dialog.show_statement(Unsigned.of(engine, report, now()))
    assert dialog.ok.isEnabled()
    dialog.use_existing.setChecked(True)
    assert not dialog.ok.isEnabled()
    assert "no such key" in dialog.hint.text()
    (keys / "auditor.pem").touch()
    dialog.create_new.setChecked(True)
    assert "never overwritten" in dialog.hint.text()
    dialog.use_existing.setChecked(True)
    assert dialog.ok.isEnabled()
    dialog.passphrase.setText("p")
    request = dialog.request()
    assert (request.create, request.passphrase, request.target) == (False, "p", tmp_path / "v.json")


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"QT_QPA_PLATFORM": "offscreen", "DISPLAY": ":0"}, "linux", False),
        ({"QT_QPA_PLATFORM": "xcb"}, "linux", True),
        ({}, "darwin", True),
        ({}, "win32", True),
    ],
)
def test_display_is_recognised(environment: dict[str, str], platform: str, expected: bool) -> None:
    assert startup.has_display(environment, platform) is expected


def test_no_display_is_said_in_a_sentence() -> None:
    with pytest.raises(CounterfoilError, match="no display"):
        startup.check_display({}, "linux")
    with pytest.raises(CounterfoilError, match="libxcb-cursor"):
        startup.check_display({"DISPLAY": ":0"}, "linux", loads=lambda _name: False)
    startup.check_display({"DISPLAY": ":0"}, "linux", loads=lambda _name: True)
    startup.check_display({"QT_QPA_PLATFORM": "offscreen"}, "linux", loads=lambda _name: False)


def test_the_window_loads_neither_torch_nor_hdf5() -> None:
    program = (
        "import sys, counterfoil_app.main\n"
        "found = {'torch', 'h5py', 'numba', 'cryptography'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {found}' if found else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_name_from_the_file_is_never_markup(opened: MainWindow) -> None:
    opened.session.summary = None
    opened.session.phase = Phase.UNREADABLE
    opened.session.failure = Failure("<b>bold</b> is no bundle.", "", "", expected=True)
    opened.session.phase_changed.emit()
    assert opened.header.sentence.text().startswith("<b>")
    assert opened.header.sentence.textFormat().name == "PlainText"
    assert opened.checks.sentence.textFormat().name == "PlainText"


def test_hashes_keep_their_size(qapp: object) -> None:
    before = fixed_font().pointSizeF()
    smaller = fixed_font()
    smaller.setPointSizeF(before / 2)
    assert fixed_font().pointSizeF() == before


def test_files_of_the_window_lie_beside_its_settings(tmp_path: Path) -> None:
    assert Settings(store(tmp_path)).config_folder == tmp_path
