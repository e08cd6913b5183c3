"""What a run shows of itself: counted by torch, by hand and by us; signed, and counted again by whoever has the run."""

from __future__ import annotations

import base64
import copy
import json
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.flop_counter import FlopCounterMode

from counterfoil.audit.runfacts import facts_of, kind_of, operations_of, rows_used, tokens_read
from counterfoil.cli import main
from counterfoil.cli.terminal import shows
from counterfoil.program.capture import capture
from counterfoil.program.update import Sgd
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes.digits import DigitsNet
from counterfoil_core.base.errors import GivenFileError, RefusedError, SignatureError
from counterfoil_core.base.precision import ExactPrecision, Precision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.envelope import payload_of, sign_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.statement.factfields import FactsStatement, differing_facts, fields_of
from counterfoil_core.statement.verdict import preview_verdict, sign_verdict, verify_verdict
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.runfacts import (
    CONVOLUTION,
    ELEMENTWISE,
    INTEGERS,
    MATRIX,
    OTHER,
    REDUCTION,
    RunFacts,
    seconds_between,
)
from support.jobs import TINY_GPT2, Job, audited, classify, digits_order, draw, gpt2_order, own_order, record_job
from support.shared import shared_order

TIME = datetime(2026, 3, 1, tzinfo=UTC)
KEY, OTHER_KEY = key_from_seed(b"\1" * 32), key_from_seed(b"\2" * 32)


@pytest.fixture(scope="module")
def found(digits_job: Job) -> RunFacts:
    return facts_of(digits_job.run, energy_kwh="12.50")


def by_kind(facts: RunFacts, *parts: str) -> Counter[str]:
    counted: Counter[str] = Counter()
    for each in facts.operations:
        if each.part in parts:
            counted[each.kind] += each.operations
    return counted


# Operations


def by_torch(model: nn.Module, *batch: torch.Tensor) -> dict[str, int]:
    """What torch itself counts of one forward and one backward pass, by operator."""
    with FlopCounterMode(display=False) as counter:
        model(*batch).sum().backward()
    return {str(name): count for name, count in counter.get_flop_counts()["Global"].items()}


def test_products_and_convolutions_are_as_many_as_torch_counts(found: RunFacts, digits_job: Job) -> None:
    with BundleReader.open(digits_job.run) as reader:
        width = reader.state_layout()["stem.weight"][1][0]
    counted = by_torch(DigitsNet(width), torch.zeros(found.batch_size, 1, 8, 8))
    ours = by_kind(found, "forward", "backward")
    assert ours[CONVOLUTION] == found.steps * (counted["aten.convolution"] + counted["aten.convolution_backward"])
    assert ours[MATRIX] == found.steps * (counted["aten.addmm"] + counted["aten.mm"])
    assert all(ours[kind] > 0 for kind in (ELEMENTWISE, REDUCTION, OTHER))
    assert set(by_kind(found, "update")) == {ELEMENTWISE}
    assert sum(each.operations for each in found.operations) == found.total_operations


def test_each_operator_is_of_the_kind_and_precision_that_it_has(digits_job: Job) -> None:
    with BundleReader.open(digits_job.run) as reader:
        program = Program.from_bytes(reader.program(""))
    kinds = {node.operator: kind_of(node) for node in program.nodes}
    for name, kind in {
        "aten.addmm.default": MATRIX,
        "aten.convolution_backward.default": CONVOLUTION,
        "aten.relu.default": ELEMENTWISE,
        "aten.mul.Tensor": ELEMENTWISE,
        "aten.mean.dim": REDUCTION,
        "aten._native_batch_norm_legit_functional.default": OTHER,
    }.items():
        assert kinds[name] == kind
    rounded, exact = (operations_of(program, 1, each) for each in (Precision(), ExactPrecision(20)))
    assert {precision for _, _, precision in rounded} == {"float64", INTEGERS}
    # The step counter of batch norm is an integer.
    assert rounded["forward", ELEMENTWISE, INTEGERS] > 0
    assert not any(kind in (MATRIX, CONVOLUTION) for _, kind, precision in rounded if precision == INTEGERS)
    assert {(kind, precision) for _, kind, precision in exact if precision not in ("float32", INTEGERS)} == {
        (MATRIX, "20 bits"),
        (CONVOLUTION, "20 bits"),
    }
    # Another profile is another precision of the same operations.
    assert sum(exact.values()) == sum(rounded.values())


def test_of_a_convolution_the_gradients_that_are_asked_for_count(tmp_path: Path, trainer_key: SigningKey) -> None:
    """Nobody needs the gradient of the data: half of what both take, once and not twice."""
    model = nn.Sequential(nn.Conv2d(1, 4, 3, bias=False), nn.Flatten(), nn.Linear(4 * 16, 3, bias=False))
    data = {"x": np.ones((8, 1, 6, 6), np.float32), "labels": np.zeros(8, np.int64)}
    order = own_order(model, lambda model, batch: classify(model, batch), data, steps=1, batch_size=8)
    facts = facts_of(record_job(tmp_path, order, trainer_key).run)
    counted = by_torch(model, torch.zeros(8, 1, 6, 6))
    assert by_kind(facts, "forward")[CONVOLUTION] == counted["aten.convolution"] == 2 * 8 * 4 * 16 * 9
    assert by_kind(facts, "backward")[CONVOLUTION] == counted["aten.convolution_backward"] == 2 * 8 * 4 * 16 * 9


def test_a_linear_model_takes_what_one_counts_by_hand(tmp_path: Path, trainer_key: SigningKey) -> None:
    model = nn.Sequential(nn.Linear(6, 5, bias=False), nn.ReLU(), nn.Linear(5, 3, bias=False))
    data = {"x": np.ones((20, 6), np.float32), "labels": np.zeros(20, np.int64)}
    order = own_order(model, lambda model, batch: classify(model, batch), data, steps=4, batch_size=8)
    run = record_job(tmp_path, order, trainer_key).run
    facts = facts_of(run)
    assert by_kind(facts, "forward")[MATRIX] == 4 * 2 * 8 * (6 * 5 + 5 * 3)
    # The gradients of both weights, and of what the second layer reads; nobody needs that of the data.
    assert by_kind(facts, "backward")[MATRIX] == 4 * 2 * 8 * (6 * 5 + 2 * 5 * 3)
    assert (facts.parameters, facts.steps, facts.batch_size) == (6 * 5 + 5 * 3, 4, 8)
    (use,) = [use for use in facts.data if use.name == "x"]
    assert (use.rows_read, use.elements_read, use.epochs) == (32, 32 * 6, 32 / 20)
    assert use.distinct_rows == 20


# Rows


class Short(nn.Module):
    """Three classes of four numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(x)


def short_order(batch: int, **settings: Any) -> OrderDraft:
    """Seven rows in batches, of which the last is shorter."""
    rows = TensorDataset(torch.from_numpy(draw((7, 4), 1)), torch.arange(7) % 3)
    model = Short()

    def loss_of(model: nn.Module, batch: Any) -> torch.Tensor:
        return nn.functional.cross_entropy(model(batch[0]), batch[1])

    data = DataLoader(rows, batch, shuffle=True, generator=torch.Generator().manual_seed(1))
    return order_custom(
        CustomJob("Rows", model, loss_of, torch.optim.SGD(model.parameters(), lr=0.1), data, **settings)
    )


def test_rows_that_fill_a_shorter_batch_are_not_read(tmp_path: Path, trainer_key: SigningKey) -> None:
    order = short_order(3, steps=6)
    assert order.schedule[2].tolist()[1:] == [0, 0], "two epochs of 3, 3 and 1, each filled up with row 0 twice"
    facts = facts_of(record_job(tmp_path, order, trainer_key).run)
    assert [use.name for use in facts.data] == ["item.0", "item.1"]
    for use in facts.data:
        assert (use.rows_read, use.distinct_rows, use.filling_rows, use.epochs) == (14, 7, 4, 2.0)
    assert facts.data[0].elements_read == 14 * 4


def test_control_rows_of_whole_batches_are_all_read(found: RunFacts, tmp_path: Path, trainer_key: SigningKey) -> None:
    assert {use.filling_rows for use in found.data} == {0}
    facts = facts_of(record_job(tmp_path, short_order(7, steps=2), trainer_key).run)
    assert {(use.rows_read, use.filling_rows, use.distinct_rows) for use in facts.data} == {(14, 0, 7)}


def test_rows_of_parts_of_a_step_are_those_of_each_part() -> None:
    """Of 4 and 3 rows in parts of two, the last step has a part of 2 and one of 1."""
    order = short_order(2, steps=2, accumulate=2)
    used = {name: rows_used(program)["item.0"].tolist() for name, program in order.programs.parts.items()}
    assert used == {"2.2": [True] * 4, "2.1": [True, True, True, False]}


def test_a_row_that_anything_else_reads_is_read() -> None:
    """What is sliced along another axis, or read beside the slice, is no row left out."""
    types = {"x": TensorType("float32", (4, 6))}
    weight = nn.Linear(6, 2, bias=False)

    def used(objective: Any) -> list[bool]:
        return rows_used(capture(copy.deepcopy(weight), objective, Sgd(), types).program)["x"].tolist()

    assert used(lambda model, batch: model(batch["x"][:3]).sum()) == [True, True, True, False]
    assert used(lambda model, batch: model(batch["x"][1:][:2]).sum()) == [False, True, True, False]
    assert used(lambda model, batch: model(batch["x"]).sum()) == [True] * 4
    assert used(lambda model, batch: model(batch["x"])[:3].sum()) == [True] * 4
    assert used(lambda model, batch: model(batch["x"][:3]).sum() + batch["x"].sum()) == [True] * 4
    assert used(lambda model, batch: (model.weight * batch["x"][:, :3].sum()).sum()) == [True] * 4


def test_tokens_are_what_embeddings_look_up(found: RunFacts) -> None:
    order = gpt2_order()
    (program,) = order.programs.all
    # A row has one token more, the last one's target.
    assert tokens_read(program) == order.manifest.batch_size * TINY_GPT2.context
    assert found.tokens == 0


def test_the_duration_is_that_between_the_trainers_times(found: RunFacts) -> None:
    assert found.seconds == seconds_between(found.started, found.signed)
    assert seconds_between("2026-01-01T00:00:00Z", "2026-01-02T00:00:01Z") == 86401
    assert seconds_between("", "2026-01-02T00:00:01Z") is None
    assert seconds_between("2026-01-02T00:00:01Z", "2026-01-01T00:00:00Z") is None


# What it is taken from


def test_rows_are_those_of_the_schedule(found: RunFacts, digits_job: Job) -> None:
    with BundleReader.open(digits_job.run) as reader:
        schedule = reader.schedule()
        manifest = reader.manifest
    assert found.order == manifest.digest
    for use in found.data:
        assert (use.rows_read, use.distinct_rows) == (schedule.size, len(set(schedule.ravel().tolist())))
        assert use.shape == manifest.data[use.name].shape


def test_the_trainer_that_is_named_must_have_signed_it(digits_job: Job, trainer_key: SigningKey) -> None:
    assert facts_of(digits_job.run, trainer_key=trainer_key.public).trainer_key == trainer_key.public.key_id
    with pytest.raises(RefusedError):
        facts_of(digits_job.run, trainer_key=KEY.public)


def test_nothing_is_counted_of_what_nothing_binds(digits_job: Job, tmp_path: Path) -> None:
    copy = tmp_path / "run.cfoil"
    data = bytearray(digits_job.run.read_bytes())
    with BundleReader.open(digits_job.run) as reader:
        rows = np.ascontiguousarray(reader.schedule()).tobytes()
    place = bytes(data).index(rows[:64])
    data[place] ^= 1
    copy.write_bytes(data)
    with pytest.raises(RefusedError):
        facts_of(copy)


def test_an_order_has_none(digits_job: Job) -> None:
    with pytest.raises(GivenFileError, match="nobody has run"):
        facts_of(digits_job.order)


@pytest.mark.parametrize("energy", ["much", "-1", "1e5", "1,5", "1" * 20])
def test_energy_is_a_decimal_number(digits_job: Job, energy: str) -> None:
    with pytest.raises(GivenFileError, match="no number of kilowatt-hours"):
        facts_of(digits_job.run, energy_kwh=energy)


# Signed


def test_what_was_signed_is_compared_fact_by_fact(found: RunFacts) -> None:
    envelope = sign_said(FactsStatement(fields_of(found)), KEY, datetime(2026, 3, 1, tzinfo=UTC))
    said = open_said(FactsStatement, envelope, KEY.public)
    assert (said.key_id, said.facts.energy_kwh, said.signed_at) == (KEY.public.key_id, "12.5", "2026-03-01T00:00:00Z")
    assert differing_facts(said.facts, found) == ()
    more = replace(found.operations[0], operations=found.operations[0].operations + 1)
    other = replace(found, steps=found.steps + 1, operations=(more, *found.operations[1:]))
    assert differing_facts(said.facts, other) == ("operations", "steps", "total_operations")
    for change in (lambda facts: facts.update(green=True), lambda facts: facts.pop("tokens")):
        statement = json.loads(payload_of(envelope))
        change(statement["predicate"]["facts"])
        with pytest.raises(SignatureError, match="not in the form of the facts of a run"):
            open_said(FactsStatement, sign_statement(statement, KEY), KEY.public)


def test_another_key_and_a_flipped_byte_are_refused(found: RunFacts) -> None:
    envelope = sign_said(FactsStatement(fields_of(found)), KEY)
    with pytest.raises(SignatureError):
        open_said(FactsStatement, envelope, OTHER_KEY.public)
    told = json.loads(envelope)
    payload = base64.b64decode(told["payload"])
    told["payload"] = base64.b64encode(payload.replace(b'"12.5"', b'"11.5"')).decode()
    with pytest.raises(SignatureError):
        open_said(FactsStatement, json.dumps(told).encode(), KEY.public)
    with pytest.raises(SignatureError, match="longer than"):
        open_said(FactsStatement, b" " * (2**26 + 1), KEY.public)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_alone_finds_that_the_signature_holds(found: RunFacts, tmp_path: Path) -> None:
    (tmp_path / "facts.json").write_bytes(sign_said(FactsStatement(fields_of(found)), KEY))
    (tmp_path / "key.pem").write_text(KEY.public.pem)
    # The lines of docs/check-a-verdict.md.
    lines = """
        sed -n 's/.*"payload":"\\([^"]*\\)".*/\\1/p' facts.json | openssl base64 -d -A > payload.json
        sed -n 's/.*"sig":"\\([^"]*\\)".*/\\1/p' facts.json | openssl base64 -d -A > signature.bin
        printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$(wc -c < payload.json)" > signed.bin
        cat payload.json >> signed.bin
        openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed.bin -sigfile signature.bin
    """
    done = subprocess.run(["sh", "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Signature Verified Successfully" in done.stdout
    told = json.loads((tmp_path / "payload.json").read_text())
    assert told["predicate"]["facts"]["total_operations"] == str(found.total_operations)
    (tmp_path / "facts.json").write_bytes(sign_said(FactsStatement(fields_of(found)), OTHER_KEY))
    done = subprocess.run(["sh", "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Signature Verified Successfully" not in done.stdout


def test_how_far_the_reading_is_is_told(digits_job: Job) -> None:
    """By the steps, of a run whose stored states are not read."""
    told: list[tuple[int, int]] = []

    def tell(done: int, total: int) -> None:
        told.append((done, total))

    steps = facts_of(digits_job.run).steps
    facts_of(digits_job.run, progress=tell)
    assert told[-1] == (steps, steps)
    assert told == sorted(told)


def test_a_bar_begins_again_where_the_total_is_another() -> None:
    seen: list[tuple[str, float]] = []

    class Bar:
        def start(self, steps: int) -> None:
            seen.append(("of", steps))

        def update(self, done: float, note: str = "") -> None:
            seen.append((note, done))

        def go_on_from(self, done: int) -> None:
            raise AssertionError

    show = shows(Bar())
    for done, total in ((3, 6), (6, 6), (0, 4), (4, 4)):
        show(done, total)
    assert seen == [("of", 6), ("", 3), ("", 6), ("of", 4), ("", 0), ("", 4)]


# In a verdict


def test_an_audit_counts_them_only_if_asked_to(digits_job: Job, found: RunFacts) -> None:
    plain, asked = (audited(digits_job.run, facts=facts).report for facts in (False, True))
    assert plain.facts is None
    assert asked.facts == replace(found, energy_kwh="")
    assert preview_verdict(replace(asked, facts=None), TIME) == preview_verdict(
        replace(plain, seconds=asked.seconds), TIME
    )
    signed = verify_verdict(sign_verdict(asked, KEY), KEY.public)
    assert signed.run_facts == asked.facts


def test_facts_keep_the_rule_under_other_profiles_and_of_texts(
    gpt2_job: Job, tmp_path: Path, trainer_key: SigningKey
) -> None:
    """What an audit counts, its reader takes: :func:`audited` judges every verdict by every rule."""
    exact = record_job(tmp_path, digits_order(precision=ExactPrecision(20), steps=2), trainer_key)
    facts = audited(exact.run, facts=True).report.facts
    assert facts is not None
    assert {each.precision for each in facts.operations if each.kind == CONVOLUTION} == {"20 bits"}
    facts = audited(gpt2_job.run, facts=True).report.facts
    assert facts is not None
    assert facts.tokens == facts.steps * facts.batch_size * TINY_GPT2.context
    (tmp_path / "short").mkdir()
    short = record_job(tmp_path / "short", short_order(3, steps=3), trainer_key)
    report = audited(short.run, facts=True).report
    assert report.facts is not None
    assert report.facts.data[0].filling_rows == 2


def test_facts_of_shares_count_every_share(tmp_path: Path, trainer_key: SigningKey) -> None:
    report = audited(record_job(tmp_path, shared_order(), trainer_key).run, facts=True).report
    assert report.facts is not None
    # Two linear layers, over all 12 rows of a step, in 5 steps.
    assert by_kind(report.facts, "forward")[MATRIX] == 5 * 2 * 12 * (6 * 8 + 8 * 3)
    assert {(use.rows_read, use.filling_rows) for use in report.facts.data} == {(60, 0)}


def test_facts_of_a_verdict_are_counted_again(digits_job: Job, gpt2_job: Job) -> None:
    report = audited(digits_job.run, facts=True).report
    said = verify_verdict(sign_verdict(report, KEY), KEY.public).statement.facts
    assert said
    assert differing_facts(said, facts_of(digits_job.run)) == ()
    assert "run_root" in differing_facts(said, facts_of(gpt2_job.run))
    assert report.facts is not None
    first, *rest = report.facts.operations
    more = replace(report.facts, operations=(replace(first, operations=first.operations + 1), *rest))
    # It adds up, so that no reader of the verdict alone can tell; whoever has the run can.
    said = verify_verdict(sign_verdict(replace(report, facts=more), KEY), KEY.public).statement.facts
    assert said
    assert differing_facts(said, facts_of(digits_job.run)) == ("operations", "total_operations")


def test_a_run_that_is_not_what_was_signed_has_no_facts(digits_job: Job, tmp_path: Path) -> None:
    copy = tmp_path / "run.cfoil"
    data = bytearray(digits_job.run.read_bytes())
    with BundleReader.open(digits_job.run) as reader:
        rows = np.ascontiguousarray(reader.schedule()).tobytes()
    data[bytes(data).index(rows[:64])] ^= 1
    copy.write_bytes(data)
    report = audited(copy, facts=True).report
    assert (report.outcome, report.facts) == (Outcome.REFUSED, None)


# The commands


def test_the_command_signs_them_into_a_verdict(
    digits_job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = str(digits_job.run)
    assert main(["keygen", "auditor.pem", "--no-passphrase"]) == 0
    into = ["--key", "auditor.pem", "--verdict"]
    assert main(["audit", run, "--facts", *into, "facts.json"]) == 0
    assert main(["audit", run, *into, "plain.json"]) == 0
    capsys.readouterr()
    assert main(["verify", "facts.json", "--key", "auditor.pub.pem"]) == 0
    operations = facts_of(digits_job.run).total_operations
    assert f"operations {operations:,}" in " ".join(capsys.readouterr().out.split())
    assert main(["verify", "facts.json", "--key", "auditor.pub.pem", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["predicate"]["facts"]["total_operations"] == str(operations)
    assert main(["verify", "facts.json", run, "--key", "auditor.pub.pem"]) == 0
    assert "The run shows each of the facts that it states." in " ".join(capsys.readouterr().out.split())
    assert main(["verify", "plain.json", run, "--key", "auditor.pub.pem"]) == 0
    assert "shows each" not in capsys.readouterr().out
    assert main(["audit", run, "--facts"]) == 4
    assert "--facts belongs to --verdict" in " ".join(capsys.readouterr().err.split())
    assert main(["audit", run, "--facts", "--partial", "one.part"]) == 4


def test_the_commands_count_sign_and_check(
    digits_job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = str(digits_job.run)
    assert main(["keygen", "auditor.pem", "--no-passphrase"]) == 0
    assert main(["facts", run, "--key", "auditor.pem", "--out", "facts.json", "--energy-kwh", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.split("\n", 2)[2])
    assert told["total_operations"] == facts_of(digits_job.run).total_operations
    assert main(["verify", "facts.json", run, "--key", "auditor.pub.pem"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "The signature holds, and the run shows each of them." in said
    assert "energy 3 kWh" in said
    lie = sign_said(
        FactsStatement(fields_of(replace(facts_of(digits_job.run), parameters=1))), key_from_seed(b"\3" * 32)
    )
    Path("lie.json").write_bytes(lie)
    Path("liar.pub.pem").write_text(key_from_seed(b"\3" * 32).public.pem)
    assert main(["verify", "lie.json", run, "--key", "liar.pub.pem"]) == 3
    assert "something else of: parameters" in " ".join(capsys.readouterr().out.split())
    assert main(["facts", run, "--out", "facts.json"]) == 4
