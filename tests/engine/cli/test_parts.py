"""A run that is replayed in parts, on machines that share nothing but the file, and merged into one verdict."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from counterfoil.audit.parts.partfile import Part, read_part, write_part
from counterfoil.audit.parts.slurm import array_job, shares
from counterfoil.base.joberrors import PartError
from counterfoil.cli import main
from counterfoil_core.values.workers import Place
from support.crews import flattered
from support.forgery import checkpoint, store_checkpoint
from support.jobs import Job


@pytest.fixture(scope="module")
def cheat(cheat_job: Job) -> Path:
    return cheat_job.run


@pytest.fixture(scope="module")
def parts(digits_job: Job, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two parts of the honest run, the second made on another machine."""
    folder = tmp_path_factory.mktemp("parts")
    for name, segments in (("a.part", "1-2"), ("b.part", "3-3")):
        asked = ["--segments", segments, "--partial", str(folder / name), "--threads", "1"]
        assert main(["audit", str(digits_job.run), *asked]) == 0
    part = read_part(folder / "b.part")
    place = Place("another", part.place.environment)
    write_part(type(part)(part.identity, place, part.segments), folder / "b.part")
    return folder


def test_parts_are_merged_into_one_verdict(
    digits_job: Job, parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, verdict = tmp_path / "auditor.pem", tmp_path / "v.json"
    assert main(["keygen", str(key), "--no-passphrase"]) == 0
    given = ["--run", str(digits_job.run), "--order", str(digits_job.order), "--threads", "1"]
    files = [str(parts / "a.part"), str(parts / "b.part")]
    assert main(["merge", *files, *given, "--recheck", "3", "--verdict", str(verdict), "--key", str(key)]) == 0
    shown = capsys.readouterr()
    assert "trusted to have replayed what they say" in shown.err
    assert "Segments replayed at another (cpu), as a part file says: 3" in " ".join(shown.out.split())
    assert main(["verify", str(verdict), "--key", str(tmp_path / "auditor.pub.pem"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["outcome"] == "VERIFIED"
    assert said["replayed_at"][1]["segments"] == [[3, 3]]


def test_what_is_no_part_of_this_audit_is_an_error_and_no_verdict(
    digits_job: Job, cheat: Path, parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, run = str(parts / "a.part"), str(digits_job.run)
    assert main(["merge", a, "--run", str(cheat), "--segments", "1-1"]) == 4
    assert "another audit. What differs: the file, the run." in capsys.readouterr().err
    torn = tmp_path / "torn.part"
    torn.write_bytes((parts / "b.part").read_bytes()[:-1])
    assert main(["merge", a, str(torn), "--run", run]) == 4
    assert "torn.part is damaged" in capsys.readouterr().err
    with pytest.raises(PartError, match="is no part"):
        read_part(digits_job.run)
    # The control: the part that fits, for the segments that it has.
    assert main(["merge", a, "--run", run, "--segments", "1-2", "--recheck", "0", "--threads", "1"]) == 0


def _bent(path: Path, target: Path, place: Place | None = None, **changed: object) -> str:
    """A part whose every result is changed."""
    part = read_part(path)
    results = tuple(msgspec.structs.replace(result, **changed) for result in part.segments)
    write_part(Part(part.identity, place or part.place, results), target)
    return str(target)


def test_what_is_in_no_part_is_replayed_here(
    digits_job: Job, parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--run", str(digits_job.run), "--order", str(digits_job.order), "--threads", "1", "--json"]
    assert main(["merge", str(parts / "b.part"), *given]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [(at["by"], at["segments"]) for at in said["replayed_at"]] == [("audit", [[1, 2]]), ("part", [[3, 3]])]


def test_where_parts_disagree_the_audit_replays(
    digits_job: Job, cheat: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever says that all came out right is believed no more than whoever says that it did not."""
    honest, forged = tmp_path / "honest.part", tmp_path / "forged.part"
    assert main(["audit", str(cheat), "--partial", str(honest), "--threads", "1"]) == 2
    part = read_part(honest)
    write_part(Part(part.identity, part.place, flattered(cheat, (1, 2, 3))), forged)
    given = ["--run", str(cheat), "--order", str(digits_job.order), "--threads", "1", "--recheck", "0"]
    for order in ([honest, forged], [forged, honest], [forged, forged, honest]):
        assert main(["merge", *map(str, order), *given]) == 1
        assert "disputed step   3" in capsys.readouterr().out
    # The control: this is what trusting the maker of a single part means, and the verdict names it.
    assert main(["merge", str(forged), *given]) == 0
    assert "as a part file says: 1-3" in " ".join(capsys.readouterr().out.split())


def test_a_part_hides_no_damaged_state(digits_job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is stored lies in the merger's own file, whatever a part says of the steps before it."""
    run, honest, forged = (tmp_path / name for name in ("run.cfoil", "honest.part", "forged.part"))
    shutil.copy(digits_job.run, run)
    state = checkpoint(run, 4)
    first = next(iter(state))
    store_checkpoint(run, 4, {first: state[first] + 1})
    given = ["--run", str(run), "--order", str(digits_job.order), "--threads", "1", "--recheck", "0"]
    assert main(["audit", str(run), "--segments", "1-1", "--partial", str(honest), "--threads", "1"]) == 0
    part = read_part(honest)
    write_part(Part(part.identity, part.place, flattered(run, (1, 2, 3))), forged)
    assert main(["merge", str(forged), *given]) == 3
    assert "The stored state of step 4 differs" in " ".join(capsys.readouterr().out.split())


def test_a_part_that_claims_this_machine_is_named(
    digits_job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = tmp_path / "all.part"
    assert main(["audit", str(digits_job.run), "--partial", str(part), "--threads", "1"]) == 0
    given = ["--run", str(digits_job.run), "--threads", "1", "--json"]
    capsys.readouterr()
    assert main(["merge", str(part), *given]) == 0
    (place,) = json.loads(capsys.readouterr().out)["replayed_at"]
    assert (place["by"], place["segments"]) == ("part", [[1, 3]])
    # The control: a replay that is the audit's own names no place.
    assert main(["audit", str(digits_job.run), "--threads", "1", "--json"]) == 0
    assert not json.loads(capsys.readouterr().out)["replayed_at"]


def test_a_part_that_says_more_than_a_name_is_not_used(
    digits_job: Job, parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = _bent(parts / "b.part", tmp_path / "bad.part", Place("a\nVERIFIED", ()))
    assert main(["merge", bad, "--run", str(digits_job.run)]) == 4
    assert "cannot be used" in capsys.readouterr().err


def test_a_part_accuses_nobody_and_the_merger_does(
    digits_job: Job, cheat: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = tmp_path / "cheat.part"
    assert main(["audit", str(cheat), "--partial", str(part), "--threads", "1"]) == 2
    assert "Segment 2: Step 3 came out different from the trainer's. Whoever merges" in capsys.readouterr().out
    assert main(["merge", str(part), "--run", str(cheat), "--order", str(digits_job.order), "--threads", "1"]) == 1
    assert "disputed step   3" in capsys.readouterr().out


@pytest.mark.parametrize("extra", [["--workers", "2"], ["--resume"], ["--csv", "steps.csv"]])
def test_a_part_is_no_verdict(extra: list[str], digits_job: Job, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["audit", str(digits_job.run), "--partial", "p.part", *extra]) == 4


def test_the_batch_script() -> None:
    assert shares(10, 4) == [(1, 2), (3, 5), (6, 7), (8, 10)]
    assert shares(3, 16) == [(1, 1), (2, 2), (3, 3)]
    script = array_job("/shared/a run's.cfoil", 10, 4, 90.0, options=["--data", "x y"], gpu=True)
    assert "#SBATCH --array=0-3" in script
    assert "#SBATCH --time=14" in script, "three segments of a minute and a half, twice, and five minutes"
    assert "#SBATCH --gres=gpu:1" in script
    # What a shell makes of it, with a command that says what it was given.
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    body = script.replace("exec counterfoil", "printf '%s\\n'")
    told = subprocess.run(
        [bash, "-c", body], capture_output=True, text=True, check=True, env={"SLURM_ARRAY_TASK_ID": "1"}
    ).stdout.split("\n")
    assert told[:4] == ["audit", "/shared/a run's.cfoil", "--data", "x y"]
    assert told[told.index("--segments") + 1] == "3-5"
    assert told[told.index("--partial") + 1] == "part-1.part"
