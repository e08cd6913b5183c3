"""The manifest of an order with several programs, and the parts of a bundle that depend on them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil.bundle.writer import BundleWriter
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError, CommitmentError
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle import layout
from counterfoil_core.bundle.pattern import CHARACTERS, MAX_LISTED, MAX_PATTERN
from counterfoil_core.bundle.places import Places
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import MAX_PROGRAMS, OrderManifest
from independent.bundle import written_pattern
from support.bundles import Contents, flip_bit, make_contents, opened_for_change

PROGRAMS = {"d": b"first", "g": b"second"}
WIDTHS = {"d": 4, "g": 2}


def manifest(*pattern: str) -> OrderManifest:
    digests = {name: Digest.of(program) for name, program in PROGRAMS.items()}
    return replace(make_contents(steps=5).manifest, programs=Turns(digests, pattern or ("d", "d", "g")))


def read(edit: Callable[[Any], None]) -> OrderManifest:
    value = json.loads(manifest().to_bytes())
    edit(value)
    return OrderManifest.from_bytes(canonical.encode(value))


def test_a_manifest_comes_back_and_has_a_digest_of_its_own():
    made = manifest()
    value = json.loads(made.to_bytes())
    assert value["pattern"] == ["d", "d", "g"]
    assert value["programs"] == {name: Digest.of(program).hex for name, program in PROGRAMS.items()}
    assert "program" not in value
    assert OrderManifest.from_bytes(made.to_bytes()) == made
    assert len({manifest(*names).digest for names in (("d", "g"), ("g", "d"), ("d", "d", "g"))}) == 3


def test_an_order_with_one_program_keeps_its_bytes():
    value = json.loads(make_contents().manifest.to_bytes())
    assert value["program"] == Digest.of(make_contents().program).hex
    assert not {"programs", "pattern"} & value.keys()


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda v: v.update(program="0" * 64), "unknown field 'program'"),
        (lambda v: v.pop("pattern"), "lacks the field 'pattern'"),
        (lambda v: v.pop("programs"), "lacks the field 'program'"),
        (lambda v: v.update(pattern=[]), "has 0 steps"),
        (lambda v: v.update(pattern=["d"]), "has 1 steps"),
        (lambda v: v.update(pattern=["d", "d"]), "never names 'g'"),
        (lambda v: v.update(pattern=["d", "g", "x"]), "names 'x', which is none of them"),
        (lambda v: v.update(pattern=["d", "g", ""]), "names '', which is none of them"),
        (lambda v: v.update(pattern=["d", "g"] * 3), "no more than the order"),
        (lambda v: v.update(pattern=["d", ["g"]]), "not a list of names"),
        (lambda v: v.update(pattern="d, g"), "is a text of 4 characters"),
        (lambda v: v.update(pattern=7), "should be of type list or str"),
        (lambda v: v.update(programs={}), "0 programs"),
        (lambda v: v.update(programs={"d": v["programs"]["d"]}, pattern=["d", "d"]), "1 programs"),
        (lambda v: v["programs"].update(g="x"), "not a SHA-256 digest"),
        (lambda v: v["programs"].update(g=7), "not a SHA-256 digest"),
        (lambda v: v["programs"].update({"../x": "0" * 64}), "is not allowed in a bundle"),
        (lambda v: v["programs"].update({"": "0" * 64}), "is not allowed in a bundle"),
        (lambda v: v["programs"].update({f"p{n}": "0" * 64 for n in range(64)}), "66 programs"),
    ],
)
def test_a_malformed_manifest_is_refused(edit: Callable[[Any], None], sentence: str):
    with pytest.raises(BundleError) as caught:
        read(edit)
    assert sentence in str(caught.value)


def long_order(*pattern: str, steps: int = 5000) -> OrderManifest:
    made = manifest()
    schedule, scalars = (replace(spec, shape=(steps, spec.shape[1])) for spec in (made.schedule, made.scalars))
    programs = replace(made.programs, pattern=pattern or made.programs.pattern)
    return replace(made, steps=steps, schedule=schedule, scalars=scalars, programs=programs)


def with_written(pattern: Any, steps: int = 5000) -> OrderManifest:
    value = json.loads(long_order(steps=steps).to_bytes())
    value["pattern"] = pattern
    return OrderManifest.from_bytes(canonical.encode(value))


def test_a_pattern_is_a_list_up_to_a_thousand_steps_and_a_text_beyond():
    names = ("d", "g", "g") * 400
    for steps, form in ((MAX_LISTED, list(names[:MAX_LISTED])), (MAX_LISTED + 1, "ABB" * 333 + "AB")):
        made = long_order(*names[:steps])
        assert json.loads(made.to_bytes())["pattern"] == form
        assert OrderManifest.from_bytes(made.to_bytes()) == made
        assert made.programs.count("g", 5000) == sum(made.programs.name(step) == "g" for step in range(1, 5001))


def test_as_many_programs_as_there_are_characters():
    names = [f"p{number}" for number in range(MAX_PROGRAMS)]
    digests = {name: Digest.of(name.encode()) for name in names}
    made = replace(long_order(steps=1100), programs=Turns(digests, tuple(names * 17)))
    assert len(CHARACTERS) == len(set(json.loads(made.to_bytes())["pattern"])) == MAX_PROGRAMS
    assert OrderManifest.from_bytes(made.to_bytes()) == made


def test_a_pattern_of_a_million_steps():
    made = long_order(*("d", "g") * (MAX_PATTERN // 2), steps=MAX_PATTERN)
    read = OrderManifest.from_bytes(made.to_bytes())
    assert read.digest == made.digest
    assert read.programs.count("g", MAX_PATTERN - 1) == MAX_PATTERN // 2 - 1


def test_a_second_implementation_reads_both_forms():
    for steps in (3, MAX_LISTED, MAX_LISTED + 1, 1500):
        made = long_order(*(("g", "d", "d") * 500)[:steps])
        assert tuple(written_pattern(json.loads(made.to_bytes()))) == made.programs.pattern


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        (["d", "g"] * 501, "lists 1002 names; a list has at most 1000"),
        ("AB" * 500, "is a text of 1000 characters; such a text has 1001 to 1000000"),
        ("AB" * 500_001, "is a text of 1000002 characters"),
        ("AB" * 501 + "C", "holds 'C', which stands for none of them"),
        ("AB" * 501 + ",", r"holds '\\x2c', which stands for none of them"),
        ("A" * 1002, "never names 'g'"),
        ("AB" * 2501, "has 5002 steps; it must have 2 to 1000000, and no more than the order"),
    ],
)
def test_a_long_pattern_in_another_form_is_refused(pattern: Any, sentence: str):
    with pytest.raises(BundleError, match=sentence):
        with_written(pattern)


def written(folder: Path) -> tuple[Path, list[np.ndarray], Contents]:
    """A run of random numbers under the pattern, with fingerprints of as many places as the step's program has."""
    contents = make_contents(steps=5)
    made = manifest()
    rows = [np.arange(WIDTHS[made.programs.name(step)], dtype=np.uint64) + step for step in range(1, 6)]
    path = folder / "run.cfoil"
    with BundleWriter.create(path) as writer:
        programs = Turns(PROGRAMS, made.programs.pattern)
        writer.write_order(made, programs, contents.schedule, contents.scalars, contents.data, contents.initial)
        writer.begin_run(
            Turns({name: Places(width) for name, width in WIDTHS.items()}, made.programs.pattern),
            sum(len(step.log) for step in contents.steps),
        )
        for number, (step, row) in enumerate(zip(contents.steps, rows, strict=True), 1):
            root = contents.records()[number].state_root
            writer.append_step(number, log=step.log, log_entries=0, fingerprints=row, loss=step.loss, state_root=root)
            if made.extent.is_checkpoint(number):
                writer.write_checkpoint(number, step.state)
        writer.finish_run(b"{}", b"{}")
    return path, rows, contents


def test_every_step_has_the_fingerprints_of_its_own_program(tmp_path: Path):
    path, rows, _ = written(tmp_path)
    with BundleReader.open(path) as reader:
        assert reader.check_order_contents().programs.parts == PROGRAMS
        assert reader.fingerprint_columns().parts == WIDTHS
        records = reader.step_records()
        for step, row in enumerate(rows, 1):
            np.testing.assert_array_equal(reader.fingerprints(step), row)
            assert records[step].fingerprints == Digest.of(row.tobytes())
    with opened_for_change(path) as file:
        assert {name: file[f"run/fingerprints/{name}"].shape for name in WIDTHS} == {"d": (4, 4), "g": (1, 2)}


def test_another_program_under_its_name_is_refused(tmp_path: Path):
    path, _, _ = written(tmp_path)
    flip_bit(path, "/order/programs/g", 0, 0)
    with BundleReader.open(path) as reader, pytest.raises(CommitmentError, match="The program 'g' in the bundle"):
        reader.check_order_contents()


def test_programs_that_are_too_large_together_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, _, _ = written(tmp_path)
    both = sum(map(len, PROGRAMS.values()))
    for most in (both, both - 1):
        monkeypatch.setattr(layout, "MAX_PROGRAMS_BYTES", most)
        with pytest.raises(BundleError, match="have 11 bytes together; 10 are") if most < both else nullcontext():
            BundleReader.open(path).close()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda f: f.__delitem__("order/programs/g"), "lacks /order/programs/g"),
        (lambda f: f["order/programs"].create_dataset("x", data=np.zeros(3, np.uint8)), "holds /order/programs/x"),
        (lambda f: f["order"].create_dataset("program", data=np.zeros(3, np.uint8)), "holds /order/program"),
        (lambda f: f.__delitem__("run/fingerprints/g"), "lacks /run/fingerprints/g"),
        (lambda f: f.move("run/fingerprints/g", "run/fingerprints/h"), "holds /run/fingerprints/h"),
    ],
)
def test_a_part_too_many_or_too_few_is_refused(tmp_path: Path, spoil: Callable[[Any], None], sentence: str):
    path, _, _ = written(tmp_path)
    with opened_for_change(path) as file:
        spoil(file)
    with pytest.raises(BundleError, match=sentence):
        BundleReader.open(path)


def test_fingerprints_of_another_number_of_turns_are_refused(tmp_path: Path):
    path, _, _ = written(tmp_path)
    with opened_for_change(path) as file:
        old = file["run/fingerprints/g"][...]
        del file["run/fingerprints/g"]
        file.create_dataset("run/fingerprints/g", data=np.repeat(old, 2, axis=0))
    with pytest.raises(BundleError, match="/run/fingerprints/g has the dtype uint64 and the shape"):
        BundleReader.open(path)
