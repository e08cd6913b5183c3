"""No command reads what a stranger made outside of a box; and what a command in one asks for is its own."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from counterfoil.base.joberrors import TargetExistsError
from counterfoil.cli.commands import PLACES, load_command
from counterfoil.cli.monitor import Monitor
from counterfoil.cli.places import (
    OPENS_KEY,
    READS,
    READS_VERDICT,
    WRITES,
    WRITES_INTO,
    WRITES_WEIGHTS,
    Given,
    NamedFile,
)
from counterfoil.signing.privatekeys import generate_key
from counterfoil_core.base.errors import CounterfoilError, FileWriteError
from support.boxes import closed
from support.jobs import Job
from support.servers import serving

__all__ = ["closed"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are boxes on Linux only")
PROBED = Path(__file__).parents[2] / "support" / "probed.py"
NONE = "--trust none"
COMMANDS: Mapping[str, str] = {
    # What each is called with, and what it reads that a stranger made.
    "inspect": f"run.cfoil --order job.cfoil {NONE}",
    "facts": f"run.cfoil --key a.pem --out facts.json {NONE}",
    "diff": "run.cfoil run.cfoil --replay",
    "verify-weights": f"weights run.cfoil {NONE}",
    "export weights": "run.cfoil --safetensors weights --force",
    "export csv": "run.cfoil --out curves.csv",
    "export model-card": f"v.json --key a.pub.pem --out card.md {NONE}",
    "export svr": f"v.json --key a.pem --out svr.json {NONE}",
    "export vsa": f"v.json --key a.pem --out vsa.json {NONE}",
    "locate": f"weights/model.safetensors run.cfoil {NONE}",
    "rules": f"rules.toml run.cfoil --verdict v.json --auditor-key a.pub.pem --key a.pem --out rules.json {NONE}",
    "verify": f"v.json run.cfoil --key a.pub.pem {NONE}",
    "ledger": f". --auditor-key a.pub.pem {NONE}",
    "hand-over": f"v.json --key a.pub.pem --out over {NONE}",
    "note": "job.cfoil --says made --key a.pem --out note.json",
    "sign": "v.unsigned --key a.pem --out signed.json",
    "sign-order": "job.cfoil --key a.pem --out ordered.cfoil",
    "withdraw": "v.json --key a.pem --reason wrong --out w.json",
    "reply": "v.json --key t.pem --text wrong --out r.json",
    "calibrate": "job.cfoil --steps 1 --out calibrated.cfoil",
    "train": "job.cfoil --out again.cfoil --key t.pem --heads again.jsonl",
    "witness check": f"witness.jsonl run.cfoil --key a.pub.pem {NONE}",
    "witness watch": "run.cfoil --order job.cfoil --log watched.jsonl --key a.pem --every 1 --for 1",
    "audit": f"run.cfoil --order job.cfoil --verdict v.json --key a.pem {NONE}",
    "merge": f"some.part --run run.cfoil {NONE}",
    "follow": "run.cfoil",
    "adjudicate": f"run.cfoil {NONE}",
    "referee": "run.cfoil run.cfoil",
    "panel": "run.cfoil run.cfoil",
    "plan": "run.cfoil",
}
ELSEWHERE = {
    "order hf": "what it reads takes long to load",
    "order evaluate": "it needs a model's folder: tests/engine/training/test_evaluation.py",
    "export hub": "it needs a model's folder: tests/engine/hub/",
    "answer": "it needs a model's folder: tests/attacks/test_answers.py",
    "check-answer": "it needs a model's folder: tests/attacks/test_answers.py",
    "export tensorboard": "its package is not installed everywhere",
    "export mlflow": "its package is not installed everywhere",
}
"""Commands that are in a box by the same line of the table, and are not called here."""
REPLAYING = ("audit", "merge", "follow", "adjudicate")
SAMPLE = ("export weights", "inspect", "note", "train")
"""One for each thing that a command does: it writes weights, reads, has a key opened, and computes."""
MADE = {
    "facts": ("facts.json",),
    "export csv": ("curves.csv",),
    "export model-card": ("card.md",),
    "export svr": ("svr.json",),
    "hand-over": ("over/README.txt",),
    "note": ("note.json",),
    "sign-order": ("ordered.cfoil",),
    "train": ("again.cfoil", "again.jsonl"),
}
"""What is there when they are done."""
Said = tuple[Path, dict[str, dict[str, Any]]]
"""The folder in which commands ran, and what each said."""


def names() -> Iterator[str]:
    """The commands of the table, each of a group by itself, but for those that read what is the user's own."""
    for name, place in PLACES.items():
        found = load_command(place)
        if not isinstance(found, typer.Typer):
            yield from [name] if not place.open or name in REPLAYING else []
            continue
        for part in found.registered_commands:
            own = part.name or part.callback.__name__
            yield from [f"{name} {own}"] if not place.open or own in dict(place.boxed) else []


def test_every_command_is_looked_at() -> None:
    assert sorted(names()) == sorted({*COMMANDS, *ELSEWHERE})


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, digits_job: Job) -> Path:
    folder = tmp_path_factory.mktemp("job")
    shutil.copy(digits_job.run, folder / "run.cfoil")
    shutil.copy(digits_job.order, folder / "job.cfoil")
    generate_key(folder / "a.pem", None)
    generate_key(folder / "t.pem", None)
    (folder / "v.unsigned").write_bytes(b"no statement")
    (folder / "witness.jsonl").write_bytes(b"no line")
    (folder / "rules.toml").write_text("[hyperparameters]\nsteps = [1, 1000]\n")
    (folder / "some.part").write_bytes(b"no part")
    (folder / "weights").mkdir()
    return folder


def probe(
    folder: Path, commands: Sequence[str], kept_open: str = "", given: Mapping[str, str] = COMMANDS
) -> dict[str, dict[str, Any]]:
    """Run commands one after the other, each with what is given to it, and return what each said."""
    order = "export weights", "audit"
    sorted_commands = sorted(commands, key=lambda name: order.index(name) if name in order else len(order))
    lines = [json.dumps([*name.split(), *given[name].split()]) for name in sorted_commands]
    done = subprocess.run(
        [sys.executable, "-P", PROBED, kept_open],
        input="\n".join(lines),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PROBED.parents[1])},
        timeout=600,
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) == len(lines), done.stderr
    return dict(zip(sorted_commands, said, strict=True))


@pytest.fixture(scope="module", params=["some", pytest.param("each", marks=pytest.mark.slow)])
def said(request: pytest.FixtureRequest, job: Path, tmp_path_factory: pytest.TempPathFactory) -> Said:
    folder = shutil.copytree(job, tmp_path_factory.mktemp("said") / "job")
    return folder, probe(
        folder, SAMPLE if request.param == "some" else [name for name in COMMANDS if name not in REPLAYING[1:]]
    )


def test_no_command_reads_what_a_stranger_made_outside_of_a_box(said: Said) -> None:
    _, said = said
    if said["inspect"]["box"].startswith("none"):
        pytest.skip(f"this kernel has no box: {said['inspect']['box']}")
    assert {name: one["open"] for name, one in said.items() if one["open"]} == {}
    boxes = {name for name, one in said.items() if not one["box"].startswith("landlock")}
    assert boxes == {"audit"} & said.keys(), "it reads nothing itself"
    # What is looked for is there: each reads something, but for those that are given what is none.
    silent = {name for name, one in said.items() if not one["parsed"]}
    assert silent == {"audit", "sign", "witness check"} & said.keys()


def test_what_they_do_is_done_in_a_box_too(said: Said) -> None:
    folder, said = said
    refused = {name: one["said"] for name, one in said.items() if one["code"] == 4}
    assert set(refused) == {"reply"} & said.keys(), refused  # the run is signed with another key
    made = [path for name, paths in MADE.items() if name in said for path in paths]
    assert [name for name in made if not (folder / name).exists()] == []
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.slow
def test_a_command_whose_box_is_left_open_is_found(job: Path) -> None:
    assert probe(job, ["inspect"], "inspect")["inspect"]["open"] == ["a bundle", "a statement"]


def test_an_evaluation_is_ordered_in_a_box_but_for_the_clients_own_script(job: Path) -> None:
    name = "order evaluate"
    of_folder = probe(job, [name], given={name: "weights --data rules.toml --out s.cfoil"})[name]
    if of_folder["box"].startswith("none"):
        pytest.skip(f"this kernel has no box: {of_folder['box']}")
    assert of_folder["box"].startswith("landlock")
    assert "has no config.json" in of_folder["said"]
    of_script = probe(job, [name], given={name: "--script no.py --out s.cfoil"})[name]
    assert not of_script["box"].startswith("landlock")


@pytest.mark.slow
def test_no_command_that_replays_reads_what_a_stranger_made_itself(job: Path) -> None:
    found = probe(job, REPLAYING)
    assert {name: one["open"] for name, one in found.items() if one["open"]} == {}


# What a command that was taken over may ask for.


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Monitor]:
    (tmp_path / "run.cfoil").write_bytes(b"a run")
    generate_key(tmp_path / "k.pem", None)
    places = (
        NamedFile("RUN", tmp_path / "run.cfoil", READS),
        NamedFile("--key", tmp_path / "k.pem", OPENS_KEY),
        NamedFile("--out", tmp_path / "out.json", WRITES),
        NamedFile("--safetensors", tmp_path / "new", WRITES_WEIGHTS),
    )
    taken, handed = socket.socketpair()
    with taken, handed:
        monitor = Monitor(Given(places), handed)
        yield monitor
        monitor.close()


def test_the_private_key_is_not_read_in_the_box(tmp_path: Path) -> None:
    assert NamedFile("--key", tmp_path / "k.pem", OPENS_KEY).boxed == ()
    (tmp_path / "later.json").write_bytes(b"{}")
    verdict = NamedFile("VERDICT", tmp_path / "v.json", READS_VERDICT)
    assert verdict.boxed == (tmp_path / "v.json", tmp_path / "later.json")
    assert verdict.lists == (tmp_path,)


def test_what_is_put_in_place_is_a_plain_file_of_its_own(outside: Monitor, tmp_path: Path) -> None:
    staging = dict(outside.begin().staging)
    out = tmp_path / "out.json"
    assert set(staging) == {out, tmp_path / "new" / "model.safetensors"}
    (staging[out] / "link").symlink_to("/etc/passwd")
    (staging[out] / "rights").touch(0o755)
    (staging[out] / "rights").chmod(0o4755)
    (staging[out] / "folder").mkdir()
    (staging[out] / "folder" / "link").symlink_to("/etc/passwd")
    os.mkfifo(staging[out] / "pipe")
    for name in ("link", "rights", "pipe", "folder", "../run.cfoil", str(tmp_path / "run.cfoil")):
        with pytest.raises(CounterfoilError, match="asked for what it was not given"):
            outside.place(out, name, "the file", True)
    (staging[out] / "part").write_bytes(b"it")
    for target in (tmp_path / "run.cfoil", tmp_path / "k.pem", tmp_path / "other"):
        with pytest.raises(CounterfoilError, match="asked for what it was not given"):
            outside.place(target, "part", "the file", True)
    outside.place(out, "part", "the file", False)
    assert out.read_bytes() == b"it"
    (staging[out] / "part").write_bytes(b"another")
    with pytest.raises(TargetExistsError):
        outside.place(out, "part", "the file", False)
    with pytest.raises(FileWriteError):
        outside.place(out, "nothing", "the file", True)


def test_what_was_not_named_is_not_opened(outside: Monitor, tmp_path: Path) -> None:
    outside.begin()
    unnamed = "asked for what it was not given"
    with pytest.raises(CounterfoilError, match=unnamed):
        outside.open_key(tmp_path / "run.cfoil", "audit", "")
    with pytest.raises(CounterfoilError, match=unnamed):
        outside.sign(tmp_path / "k.pem", b"{}")
    with pytest.raises(CounterfoilError, match=unnamed):
        outside.open_log(tmp_path / "run.cfoil", False)
    with pytest.raises(CounterfoilError, match=unnamed):
        outside.forget(tmp_path / "run.cfoil")
    for ask in (outside.open_run, outside.compare_run):
        with pytest.raises(CounterfoilError, match=unnamed):
            ask()
    with pytest.raises(CounterfoilError, match=unnamed):
        outside.fetch_run(((0, 1),))
    assert outside.remove_leftovers(tmp_path / "run.cfoil") == ()


def test_nothing_stays_of_what_was_made_ready(outside: Monitor, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    outside.begin()
    assert len(list(tmp_path.iterdir())) > len(before)
    outside.close()
    assert sorted(tmp_path.iterdir()) == before


def test_a_recording_that_has_come_to_its_end_leaves_no_folder(tmp_path: Path) -> None:
    kept, empty = tmp_path / "kept", tmp_path / "empty"
    for each in (kept, empty):
        each.mkdir()
    (kept / "one").touch()
    taken, handed = socket.socketpair()
    with taken, handed:
        places = tuple(NamedFile("--out", each, WRITES_INTO) for each in (kept, empty, tmp_path / "new"))
        monitor = Monitor(Given(places), handed)
        monitor.begin()
        assert (tmp_path / "new").is_dir()
        (kept / "one").unlink()
        monitor.close()
    assert sorted(tmp_path.iterdir()) == [empty]


def test_a_run_that_lies_elsewhere_is_fetched_outside_of_the_box(digits_job: Job) -> None:
    with serving(digits_job.run) as served:
        command = [sys.executable, "-m", "counterfoil", "inspect", served.url, "--order", str(digits_job.order)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The run is signed" in done.stdout
    assert 0 < served.sent < digits_job.run.stat().st_size, "pieces are fetched, and not the whole"
