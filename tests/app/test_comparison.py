"""Ordered against run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

from pytestqt.qtbot import QtBot

from counterfoil import BundleSummary
from counterfoil.audit.values.summary import SourceSummary
from counterfoil_app.model.open_bundle import Phase
from counterfoil_app.shell.window import MainWindow
from counterfoil_app.views.comparison import compared_fields
from support.fake_engine import FakeEngine, digest
from support.waiting import reached

MakeWindow = Callable[[FakeEngine], MainWindow]


def test_the_same_order_agrees_in_every_line() -> None:
    bundle = FakeEngine().summary(Path("run"), Path("order"))
    lines = compared_fields(bundle, bundle)
    assert {line.same for line in lines} == {True}
    assert len(lines) == 10


def test_without_the_clients_file_only_signed_things_are_compared() -> None:
    lines = compared_fields(FakeEngine().summary(Path("run"), None), None)
    assert [line.name for line in lines] == ["Order digest", "Steps"]


def test_a_file_that_agrees_with_itself_is_not_ticked_and_one_that_does_not_is_crossed() -> None:
    bundle = FakeEngine().summary(Path("run"), None)
    assert [line.same for line in compared_fields(bundle, None)] == [None, None]
    assert bundle.run is not None
    other = replace(bundle, run=replace(bundle.run, order_digest=digest("x"), steps=7))
    assert [line.same for line in compared_fields(other, None)] == [False, False]
    signed = replace(bundle, order_source="signature")
    assert [line.same for line in compared_fields(signed, None)] == [True, True]


def test_each_change_of_the_order_shows_in_its_line() -> None:
    bundle = FakeEngine().summary(Path("run"), None)
    changes = {
        "digest": digest("x"),
        "title": "Other",
        "steps": 61,
        "batch_size": 33,
        "seed": 1,
        "precision": "other",
        "optimizer": "Adam",
        "programs": (("", digest("x")),),
        "data_root": digest("x"),
        "initial_root": digest("x"),
    }
    assert set(changes) <= {field.name for field in fields(bundle.order)}
    seen = set()
    for name, value in changes.items():
        client = replace(bundle, order=replace(bundle.order, **{name: value}))
        wrong = [line.name for line in compared_fields(bundle, client) if line.same is False]
        assert len(wrong) == 1, name
        seen.add(wrong[0])
    assert len(seen) == len(changes)


def test_programs_that_take_turns_are_compared_one_by_one() -> None:
    bundle = FakeEngine().summary(Path("run"), None)
    programs = (("d", digest("d")), ("g", digest("g")))
    turns = replace(bundle, order=replace(bundle.order, programs=programs, pattern=("d", "d", "g")))
    found = {line.name: line for line in compared_fields(turns, turns)}
    assert (found["Turns"].ordered, found["Turns"].same) == ("d, d, g", True)
    assert (found["Program g"].run, found["Program g"].digest) == (digest("g").hex, True)
    other = replace(turns, order=replace(turns.order, programs=(programs[0], ("g", digest("x")))))
    assert [line.name for line in compared_fields(other, turns) if line.same is False] == ["Program g"]
    other = replace(turns, order=replace(turns.order, pattern=("d", "g")))
    assert [line.name for line in compared_fields(other, turns) if line.same is False] == ["Turns"]
    assert [line.name for line in compared_fields(bundle, turns) if line.same is False] == [
        "Turns", "Program d", "Program g", "Program",
    ]  # fmt: skip


def test_an_order_that_nobody_ran_is_compared_with_nothing() -> None:
    bundle = FakeEngine(has_run=False).summary(Path("order"), None)
    assert all(line.same is None for line in compared_fields(bundle, bundle))


class FromFiles(FakeEngine):
    """Its order names the files that it was made from: more than are shown."""

    def summary(self, path: Path, order: Path | None, client_known: bool = False) -> BundleSummary:
        files = [
            SourceSummary("model", f"<b>{n}</b>.safetensors", 7, digest(str(n)), "607a30d783df") for n in range(14)
        ]
        found = super().summary(path, order, client_known)
        return replace(found, order=replace(found.order, sources=tuple(files)))


def test_the_overview_names_the_files_that_the_order_was_made_from(
    window_of: MakeWindow, bundle: Path, qtbot: QtBot
) -> None:
    window = window_of(FromFiles())
    window.open_bundle(bundle)
    qtbot.waitUntil(reached(window, Phase.READY))
    assert window.session.summary is not None
    fields = window.run._data_fields(window.session.summary)
    made = [field.value for field in fields if field.name == "Made from"]
    assert made[0] == f"<b>0</b>.safetensors, SHA-256 {digest('0').hex}"
    assert made[-1] == "2 more files"
    assert len(made) == 13
    assert [field.value for field in fields if field.name == "Revision"] == ["607a30d783df"]
