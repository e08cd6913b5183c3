"""A command that would write over what it reads, or two things into one file, stops before it has done anything."""

from __future__ import annotations

import inspect
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import pytest
import typer

from counterfoil.base import wholefiles
from counterfoil.cli import main
from counterfoil.cli.commands import PLACES, load_command
from counterfoil.cli.places import READS, READS_FOLDER, READS_MODULE, WRITES, PathRole, guard
from counterfoil_core.base.errors import FileWriteError

CONTENT = b"kept"


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def lying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what commands read; none of it is what they expect, since they must not come so far as to look."""
    for name in ("run", "order", "k.pem", "k.pub.pem", "heads", "data", "second", "v.json", "p.part", "s.unsigned"):
        (tmp_path / name).write_bytes(CONTENT)
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.safetensors").write_bytes(CONTENT)
    (tmp_path / "mine.py").write_bytes(CONTENT)
    (tmp_path / "link").symlink_to("k.pem")
    os.link(tmp_path / "k.pem", tmp_path / "hard")
    monkeypatch.chdir(tmp_path)
    return tmp_path


CALLS = [
    "audit run --key k.pem --verdict k.pem",
    "audit run --key k.pem --verdict ./k.pem",
    "audit run --key k.pem --verdict model/../k.pem",
    "audit run --key k.pem --verdict link",
    "audit run --key k.pem --verdict hard",
    "audit run --key link --verdict k.pem",
    "audit run --key k.pem --verdict run",
    "audit run --order order --csv order",
    "audit run --order order --capsule order",
    "audit run --heads heads --unsigned heads",
    "audit run --csv x --key k.pem --verdict x",
    "audit run --csv x --capsule x",
    "audit run --csv x.unsigned --key k.pem --verdict x",
    "audit run --progress run",
    "audit run --progress x --csv x",
    "audit run --trainer-key k.pub.pem --csv k.pub.pem",
    "audit run --client-key k.pub.pem --csv k.pub.pem",
    "audit run --data data --csv data",
    "audit run --beacon data --csv data",
    "audit run --partial run",
    "audit run --subject-model model --key k.pem --verdict model/model.safetensors",
    "merge p.part --run run --csv p.part",
    "merge p.part --run run --key k.pem --verdict run",
    "adjudicate run --key k.pem --verdict run",
    "adjudicate run --key k.pem --verdict k.pem",
    "train order --key k.pem --out order",
    "train order --key k.pem --out k.pem",
    "train order --key k.pem --out x --heads order",
    "train order --key k.pem --out x --heads x",
    "train order --key k.pem --data data --out data",
    "calibrate order --out order",
    "sign-order order --key k.pem --out k.pem",
    "export csv run --out run",
    "export model/model.safetensors --safetensors model",
    "export weights model/model.safetensors --safetensors model",
    "export tensorboard run --out run",
    "export mlflow run --out run",
    "export svr v.json --key k.pem --out v.json",
    "export vsa v.json --key k.pem --out k.pem",
    "export vsa v.json --key k.pem --verdict-key k.pub.pem --out k.pub.pem",
    "export svr v.json --key k.pem --timestamp-ca data --out data",
    "export model-card v.json --key k.pub.pem --out k.pub.pem",
    "sign s.unsigned --key k.pem --out s.unsigned",
    "sign s.unsigned --key k.pem --out k.pem",
    "withdraw v.json --key k.pem --reason wrong --out v.json",
    "withdraw v.json --key k.pem --reason wrong --superseded-by second --out second",
    "reply v.json --key k.pem --text no --out v.json",
    "reply v.json --key k.pem --file data --out data",
    "order --from mine:job --out mine.py",
    "order gpt2 --text data --out data",
    "order gpt2 --text data --out x --external-data x",
    "order gpt2 --text data --out x --external-data data",
    "order logistic --data data --out data",
    "order digits-cnn --key k.pem --out k.pem",
    "order hf model --task causal-lm --data data --out model/model.safetensors",
]


@pytest.mark.parametrize("force", [False, True], ids=["plain", "force"])
@pytest.mark.parametrize("call", CALLS)
def test_no_input_is_written_over(call: str, force: bool, lying: Path, capsys: pytest.CaptureFixture[str]) -> None:
    takes_force = not call.startswith(("export tensorboard", "export mlflow"))
    before = _files(lying)
    assert main([*call.split(), *(["--force"] if force and takes_force else [])]) == 4
    said = " ".join(capsys.readouterr().err.split())
    assert "would be written over what" in said or "would both be written to" in said, said
    assert "Give another name" in said
    assert _files(lying) == before


def test_names_of_things_to_come_are_compared_too(lying: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (lying / "there").symlink_to(lying, target_is_directory=True)
    assert main(["audit", "run", "--csv", "x", "--capsule", "there/x"]) == 4
    assert "--csv and --capsule would both be written to there/x" in " ".join(capsys.readouterr().err.split())


def test_an_order_may_be_signed_in_its_own_place(lying: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["sign-order", "order", "--key", "k.pem", "--out", "order"])
    assert "written over" not in capsys.readouterr().err


def test_different_files_are_left_alone(lying: Path) -> None:
    shutil.copy(lying / "k.pem", lying / "other.pem")
    seen: list[Path] = []

    def command(
        first: Annotated[Path, READS, typer.Argument()], out: Annotated[Path, WRITES, typer.Option("--out")]
    ) -> None:
        seen.append(out)

    guard(command)(Path("k.pem"), out=Path("other.pem"))
    with pytest.raises(FileWriteError, match=r"--out would be written over what FIRST names, k\.pem"):
        guard(command)(Path("k.pem"), out=Path("hard"))
    assert seen == [Path("other.pem")]


def test_a_folder_that_is_read_takes_new_files_only(lying: Path) -> None:
    def command(
        model: Annotated[Path, READS_FOLDER, typer.Argument()], out: Annotated[Path, WRITES, typer.Option("--out")]
    ) -> None:
        pass

    guard(command)(Path("model"), out=Path("model/report.csv"))
    with pytest.raises(FileWriteError, match="--out would be written over what MODEL names"):
        guard(command)(Path("model"), out=Path("model/model.safetensors"))


def test_a_package_that_is_read(lying: Path) -> None:
    (lying / "package").mkdir()
    (lying / "package" / "__init__.py").write_bytes(CONTENT)

    def command(
        source: Annotated[str, READS_MODULE, typer.Option("--from")],
        out: Annotated[Path, WRITES, typer.Option("--out")],
    ) -> None:
        pass

    with pytest.raises(FileWriteError, match="--out would be written over what --from names"):
        guard(command)(source="package:job", out=Path("package/__init__.py"))


# Three commands with one new name.


def test_a_name_is_claimed_by_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entered, leave = threading.Event(), threading.Event()
    target = tmp_path / "verdict.json"

    def command(out: Annotated[Path, WRITES, typer.Option("--out")]) -> None:
        entered.set()
        assert leave.wait(30)
        out.write_bytes(CONTENT)

    first = threading.Thread(target=guard(command), kwargs={"out": target})
    first.start()
    assert entered.wait(30)
    for _ in range(2):
        with pytest.raises(FileWriteError, match=r"Another process is going to write .*verdict\.json"):
            guard(command)(out=target)
    leave.set()
    first.join()
    assert target.read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["verdict.json"]
    guard(command)(out=target)  # nothing is claimed any more


def test_a_claim_that_a_killed_process_left_claims_nothing(tmp_path: Path) -> None:
    (tmp_path / ".verdict.json.claim").touch()
    with wholefiles.claim_file(tmp_path / "verdict.json"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_left_to_the_writing(tmp_path: Path) -> None:
    with wholefiles.claim_file(tmp_path / "missing" / "verdict.json"):
        pass


# Every command.


def _commands(group: typer.Typer) -> Iterator[Callable[..., None]]:
    assert not group.registered_groups
    for info in (*group.registered_commands, *filter(None, [group.registered_callback])):
        if info.callback is not None:
            yield info.callback


def _without_role(command: Callable[..., None]) -> list[str]:
    """The parameters of a command that are paths and have no role."""
    return [
        name
        for name, parameter in inspect.signature(command, eval_str=True).parameters.items()
        if "Path" in str(parameter.annotation)
        and not any(isinstance(note, PathRole) for note in getattr(parameter.annotation, "__metadata__", ()))
    ]


def test_every_path_of_every_command_has_a_role() -> None:
    found = [load_command(place) for place in PLACES.values()]
    commands = [each for one in found for each in (_commands(one) if isinstance(one, typer.Typer) else [one])]
    assert len(commands) > 30
    assert {command.__name__: names for command in commands if (names := _without_role(command))} == {}
    # A command with a path and no guard would be one that was added past this.
    assert [
        command.__name__
        for command in commands
        if "Path" in str(command.__annotations__) and not hasattr(command, "__wrapped__")
    ] == []
