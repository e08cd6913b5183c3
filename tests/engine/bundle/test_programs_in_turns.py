"""The manifest of an order with several programs, and the parts of a bundle that depend on them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil.base import canonical
from counterfoil.base.digest import Digest
from counterfoil.base.errors import BundleError, CommitmentError
from counterfoil.base.turns import Turns
from counterfoil.bundle.reader import BundleReader
from counterfoil.bundle.schema import MAX_PATTERN, OrderManifest
from counterfoil.bundle.writer import BundleWriter
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
        (lambda v: v.update(pattern="d, g"), "should be of type list"),
        (lambda v: v.update(programs={}), "0 programs"),
        (lambda v: v.update(programs={"d": v["programs"]["d"]}, pattern=["d", "d"]), "1 programs"),
        (lambda v: v["programs"].update(g="x"), "not a SHA-256 digest"),
        (lambda v: v["programs"].update(g=7), "not a SHA-256 digest"),
        (lambda v: v["programs"].update({"../x": "0" * 64}), "is not allowed in a bundle"),
        (lambda v: v["programs"].update({"": "0" * 64}), "is not allowed in a bundle"),
        (lambda v: v["programs"].update({f"p{n}": "0" * 64 for n in range(20)}), "22 programs"),
    ],
)
def test_a_malformed_manifest_is_refused(edit: Callable[[Any], None], sentence: str):
    with pytest.raises(BundleError) as caught:
        read(edit)
    assert sentence in str(caught.value)


def test_a_huge_pattern_is_refused_although_the_order_is_longer():
    long = replace(
        manifest(),
        steps=5000,
        schedule=replace(manifest().schedule, shape=(5000, 4)),
        scalars=replace(manifest().scalars, shape=(5000, 2)),
    )
    value = json.loads(long.to_bytes())
    for steps, good in ((MAX_PATTERN, True), (MAX_PATTERN + 2, False)):
        value["pattern"] = ["d", "g"] * (steps // 2)
        data = canonical.encode(value)
        if good:
            assert OrderManifest.from_bytes(data).programs.count("g", 5000) == 2500
            continue
        with pytest.raises(BundleError, match="has 1002 steps"):
            OrderManifest.from_bytes(data)


def written(folder: Path) -> tuple[Path, list[np.ndarray], Contents]:
    """A run of random numbers under the pattern, with fingerprints of as many places as the step's program has."""
    contents = make_contents(steps=5)
    made = manifest()
    rows = [np.arange(WIDTHS[made.programs.name(step)], dtype=np.uint64) + step for step in range(1, 6)]
    path = folder / "run.cfoil"
    with BundleWriter.create(path) as writer:
        programs = Turns(PROGRAMS, made.programs.pattern)
        writer.write_order(made, programs, contents.schedule, contents.scalars, contents.data, contents.initial)
        writer.begin_run(Turns(WIDTHS, made.programs.pattern), sum(len(step.log) for step in contents.steps))
        for number, (step, row) in enumerate(zip(contents.steps, rows, strict=True), 1):
            root = contents.records()[number].state_root
            writer.append_step(number, log=step.log, log_entries=0, fingerprints=row, loss=step.loss, state_root=root)
            if made.is_checkpoint(number):
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
