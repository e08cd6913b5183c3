"""Steps with shares, by the pages alone: a second implementation reads, replays and trains them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil_core.base import canonical
from counterfoil_core.base.errors import BundleError, ProgramError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.order.admission import check_inputs
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import Outcome
from independent.bundle import Bundle, RefusedError, Share, SiteLog, leaf
from independent.replay import Part
from independent.shares import SharedStep, SharedSteps, State
from independent.training import train
from support.expectations import run_root
from support.jobs import Job, audited, draw, record_job
from support.shapes import loader, sentences, shapes_job

ROWS, STEPS = 48, 3
X, Y = draw((ROWS, 5), 7), np.arange(ROWS) % 3
PAGE = Path(__file__).parents[3] / "docs" / "bundle-format.md"
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
SEEDS = (b"1" * 32, b"2" * 32)
"""Of the keys of two parties."""


def objective(model: nn.Module, batch: Any) -> Tensor:
    return functional.cross_entropy(model(batch["x"]), batch["y"])


def by_tokens(model: nn.Module, batch: Any) -> tuple[Tensor, Tensor]:
    """Rows of class 0 do not count, so that shares count differently."""
    labels = torch.where(batch["y"] == 0, -100, batch["y"])
    return functional.cross_entropy(model(batch["x"]), labels, reduction="sum"), (labels >= 0).sum()


def job(**settings: Any) -> CustomJob:
    """Batch norm, dropout and AdamW unless told otherwise."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.ReLU(), nn.Linear(8, 3))
    rule = torch.optim.AdamW(model.parameters(), 0.05)
    chosen = {"objective": objective, "batch_size": 24, "checkpoint_every": 2, "data": {"x": X, "y": Y}} | settings
    return CustomJob("Shares", model, rule=rule, steps=STEPS, **chosen)


JOBS: dict[str, Callable[[], CustomJob]] = {
    "float64-24": lambda: job(shares=4),
    "tokens": lambda: job(shares=3, micro_batches=2, objective=by_tokens, weigh="tokens"),
    "exact-20": lambda: job(shares=3, micro_batches=2, buffers="mean", precision=ExactPrecision(20)),
    "stack": lambda: job(shares=3, aggregate="mean", worker_momentum=0.9),
    "signed": lambda: job(
        shares=3, precision=ExactPrecision(20), signers=[None, *(key_from_seed(seed).public for seed in SEEDS)]
    ),
    "turns": lambda: shapes_job(
        loader(sentences((3, 3, 2, 3, 2, 3, 5, 4, 5, 5)), batch_size=6), shares=2, precision=ExactPrecision(20)
    ),
}
"""``turns`` has a program for each of two shapes."""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Callable[[str], Job]:
    """Makes the orders and records their runs, each once."""
    made: dict[str, Job] = {}

    def of(name: str) -> Job:
        if name not in made:
            keys: dict[str, Any] = {}
            if name == "signed":
                keys = {"share_keys": {share: key_from_seed(seed) for share, seed in enumerate(SEEDS, 1)}}
            made[name] = record_job(tmp_path_factory.mktemp(name), order_custom(JOBS[name]()), trainer_key, **keys)
        return made[name]

    return of


def replay(bundle: Bundle) -> list[SharedStep]:
    """Every step, each from the replay's own state; each leaf must be the recorded one."""
    state, steps = bundle.group("order/initial"), []
    for step in range(1, bundle.steps + 1):
        result, found = SharedSteps(bundle, bundle.turn(step)).replay(step, state)
        assert found == leaf(bundle.record(step)), step
        state = result.state
        steps.append(result)
    return steps


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", JOBS)
def test_the_pages_are_enough_to_check_and_replay_a_run(jobs: Callable[[str], Job], name: str) -> None:
    bundle = Bundle(jobs(name).run)
    bundle.check_order()
    assert bundle.check_run().hex() == run_root(jobs(name).run).hex
    steps = replay(bundle)
    for step in steps:
        for part in (*step.shares, step.update):
            assert (part.counts.contradictions, part.counts.omissions) == (0, 0)
    for step, result in enumerate(steps, 1):
        if result.exponents is not None:
            assert result.exponents.tolist() == bundle.row("run/shares/exponents", step).tolist()
            assert result.digests == [digest.tobytes() for digest in bundle.row("run/shares/combined", step)]
    assert steps[0].update.loss != steps[-1].update.loss


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", JOBS)
def test_the_pages_are_enough_to_train(jobs: Callable[[str], Job], name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.cfoil"
    parties = [Ed25519PrivateKey.from_private_bytes(seed) for seed in SEEDS]
    found = train(jobs(name).order, path, KEY, parties=parties)
    report = audited(path, jobs(name).order).report
    assert report.outcome is Outcome.VERIFIED, report.reason
    bundle = Bundle(path)
    bundle.check_order()
    assert bundle.check_run() == found
    if name in ("exact-20", "signed", "turns"):
        assert found.hex() == run_root(jobs(name).run).hex, "what is defined is the same from every trainer"


def test_a_share_needs_the_state_before_the_step_and_nothing_of_other_shares(jobs: Callable[[str], Job]) -> None:
    bundle = Bundle(jobs("float64-24").run)
    state = replay(bundle)[0].state
    own, width = 2, bundle.manifest["batch_size"] // 4
    others = np.ones(bundle.manifest["batch_size"], bool)
    others[own * width : (own + 1) * width] = False
    bundle.arrays["order/schedule"] = np.where(others, 0, bundle.arrays["order/schedule"])
    steps, recorded, log = SharedSteps(bundle), bundle.shares_of(2), bundle.logs(2)[own]
    share = steps.share(2, own, state, steps.gradient.decoded(log))
    assert share.row.tolist() == recorded[own].fingerprints.tolist()
    assert (share.loss, 1.0) == (recorded[own].loss, recorded[own].count)
    # Control: of the others nothing is right now.
    other = steps.share(2, own + 1, state, steps.gradient.decoded(bundle.logs(2)[own + 1]))
    assert other.loss != recorded[own + 1].loss


class DrawsAlike(SharedSteps):
    """Every share drops what share 0 drops."""

    def share_part(self, number: int) -> Part:
        return replace(super().share_part(number), first=0)


class RowsOfAnother(SharedSteps):
    """Share 1 trains on the rows of share 0."""

    def share_part(self, number: int) -> Part:
        rows = super().share_part(0 if number == 1 else number).rows
        return replace(super().share_part(number), rows=rows)


class BuffersOfTheLast(SharedSteps):
    """The running statistics are those of the last share."""

    def step(self, step: int, state: State, logs: Sequence[list[SiteLog]] | None) -> SharedStep:
        done = super().step(step, state, logs)
        done.state |= {name: done.shares[-1].state[name] for name in self.changed}
        return done


class AddsInFloat32(SharedSteps):
    """As a plain all-reduce does."""

    def combined(self, given: Any) -> Any:
        sums, exponents = super().combined(given)
        return {name: np.add.reduce([share[name] for share in given]) for name in sums}, exponents


class LeavesOneOut(SharedSteps):
    """The last share is not among what is added."""

    def combined(self, given: Any) -> Any:
        _, exponents = super().combined(given)
        return super().combined(given[:-1])[0], exponents


class OtherExponents(SharedSteps):
    """The right sums, by exponents that are one too large."""

    def combined(self, given: Any) -> Any:
        sums, exponents = super().combined(given)
        return sums, exponents + np.int32(1)


class CountsOtherwise(SharedSteps):
    """Share 3 says that its loss is the sum of another number of losses; it gives what it should."""

    def step(self, step: int, state: State, logs: Sequence[list[SiteLog]] | None) -> SharedStep:
        return Miscounted(**vars(super().step(step, state, logs)))


class Miscounted(SharedStep):
    def share_data(self, changed: Sequence[str], logs: Sequence[bytes]) -> list[Share]:
        shares = super().share_data(changed, logs)
        shares[3].count = math.nan
        return shares


class UpdatesWithHalf(SharedSteps):
    """The update is given half of what was signed as combined."""

    def update_part(self, combined: Mapping[str, Any]) -> Part:
        return super().update_part({name: total / np.float32(2) for name, total in combined.items()})


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("liar", "part"),
    [
        (DrawsAlike, "share 1"),
        (RowsOfAnother, "share 1"),
        (BuffersOfTheLast, "update"),
        (AddsInFloat32, "combine"),
        (LeavesOneOut, "combine"),
        (OtherExponents, "combine"),
        (CountsOtherwise, "share 3"),
        (UpdatesWithHalf, "update"),
    ],
)
def test_what_the_pages_do_not_say_is_disputed(
    jobs: Callable[[str], Job], tmp_path: Path, liar: type[SharedSteps], part: str
) -> None:
    """Control of both sides: a trainer that takes one sentence of the page otherwise signs another run."""
    path = tmp_path / "run.cfoil"
    train(jobs("float64-24").order, path, KEY, liar)
    report = audited(path, jobs("float64-24").order).report
    assert report.outcome is Outcome.DISPUTED, report.reason
    assert report.dispute is not None
    assert (report.dispute.step, report.dispute.part) == (1, part)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("exponent", [-(2**31) + 1, -2000, -149, 129, 5000, 2**31 - 1])
def test_an_exponent_that_no_tensor_has_is_disputed(jobs: Callable[[str], Job], tmp_path: Path, exponent: int) -> None:
    class Liar(SharedSteps):
        def combined(self, given: Any) -> Any:
            sums, exponents = super().combined(given)
            return sums, np.array([exponent, *exponents[1:]], np.int32)

    path = tmp_path / "run.cfoil"
    train(jobs("float64-24").order, path, KEY, Liar)
    report = audited(path, jobs("float64-24").order).report
    assert report.outcome is Outcome.DISPUTED, report.reason
    assert report.dispute is not None
    assert report.dispute.part == "combine"


def datasets(path: Path) -> list[str]:
    found: list[str] = []
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", JOBS)
def test_the_page_names_every_dataset(jobs: Callable[[str], Job], name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    named = [f"/{path}" for path in datasets(jobs(name).run)]
    for path in (path for path in named if "/update" in path or "/shares/" in path):
        group, _, last = path.rpartition("/")
        several = last in Bundle(jobs(name).run).programs
        assert f"`{group}/<program>`" in page if several else f"| `{path}` |" in page
    sums = {path for path in named if "/shares/exponents" in path or "/shares/combined" in path}
    assert bool(sums) == (name != "stack")


COLUMNS = ("roots", "numbers", "log_ends", "fingerprints", "exponents", "combined")


@pytest.mark.parametrize("column", COLUMNS)
def test_every_column_of_the_shares_is_under_the_run_root(
    jobs: Callable[[str], Job], tmp_path: Path, column: str
) -> None:
    made = jobs("float64-24")
    assert {f"run/shares/{name}" for name in COLUMNS} <= set(datasets(made.run))
    bundle, path = Bundle(made.run), f"run/shares/{column}"
    changed = bundle.arrays[path].copy()
    changed.view(np.uint8).reshape(-1)[0] ^= 1
    bundle.arrays[path] = changed
    with pytest.raises(RefusedError, match="run root"):
        bundle.check_run()
    run = tmp_path / "run.cfoil"
    run.write_bytes(made.run.read_bytes())
    with h5py.File(run, "r+") as file:
        file[path][...] = changed
    assert audited(run, made.order).report.outcome is Outcome.REFUSED


def forged(signatures: np.ndarray) -> None:
    signatures[1, 2, 5] ^= 1


def of_another_step(signatures: np.ndarray) -> None:
    signatures[1, 2] = signatures[2, 2]


def for_nobody(signatures: np.ndarray) -> None:
    signatures[1, 0, 0] = 1


@pytest.mark.parametrize("lie", [forged, of_another_step, for_nobody])
def test_what_parties_did_not_sign_is_refused(jobs: Callable[[str], Job], lie: Callable[[np.ndarray], None]) -> None:
    bundle = Bundle(jobs("signed").run)
    bundle.check_run()
    signatures = bundle.arrays["run/shares/signatures"].copy()
    lie(signatures)
    bundle.arrays["run/shares/signatures"] = signatures
    with pytest.raises((RefusedError, InvalidSignature)):
        bundle.check_run()


def ends(*first: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda given: np.concatenate([np.array([first], np.uint64), given[1:]])


@pytest.mark.parametrize("edit", [ends(9, 8, 10, 11), ends(1, 2, 3, 2**40)])
def test_ends_that_do_not_cut_the_log_of_a_step_are_refused(
    jobs: Callable[[str], Job], tmp_path: Path, edit: Callable[[np.ndarray], np.ndarray]
) -> None:
    made, path = jobs("float64-24"), "run/shares/log_ends"
    bundle = Bundle(made.run)
    bundle.arrays[path] = edit(bundle.arrays[path])
    with pytest.raises(RefusedError, match="do not cut"):
        bundle.check_run()
    run = tmp_path / "run.cfoil"
    run.write_bytes(made.run.read_bytes())
    with h5py.File(run, "r+") as file:
        file[path][...] = bundle.arrays[path]
    report = audited(run, made.order).report
    assert (report.outcome, "does not cut" in report.reason) == (Outcome.REFUSED, True)


EDITS: dict[str, Callable[[Any], object]] = {
    "no share": lambda m: m["shares"].update(count=0),
    "rows that do not divide": lambda m: m["shares"].update(count=5),
    "other bits": lambda m: m["shares"]["combine"].update(bits=51),
    "no bits": lambda m: m["shares"]["combine"].pop("bits"),
    "bits of a stack": lambda m: m["shares"]["combine"].update(rule="stack"),
    "an unknown rule": lambda m: m["shares"].update(combine={"rule": "mean"}),
    "a field more": lambda m: m["shares"].update(names={}),
    "keys of nobody": lambda m: m["shares"].update(signers=[None] * 4),
    "too few keys": lambda m: m["shares"].update(signers=["0" * 63 + "1"]),
    "updates of one program": lambda m: m["shares"].update(updates={"": m["shares"].pop("update")}),
    "states that are not committed": lambda m: m.update(commit_every=2),
}


@pytest.mark.parametrize("name", EDITS)
def test_both_readers_refuse_an_order_that_the_page_does_not_have(jobs: Callable[[str], Job], name: str) -> None:
    bundle = Bundle(jobs("float64-24").order)
    assert OrderManifest.from_bytes(canonical.encode(bundle.manifest)).shares is not None
    EDITS[name](bundle.manifest)
    with pytest.raises(RefusedError):
        bundle.check_order()
    with pytest.raises(BundleError):
        OrderManifest.from_bytes(canonical.encode(bundle.manifest))


def renamed(update: Any, **fields: Any) -> None:
    next(item for item in update["inputs"] if item["kind"] == "combined").update(fields)


PAIRS: dict[str, Callable[[Any, Any], object]] = {
    "nothing is given": lambda p, u: p.pop("combined"),
    "nothing is given, and so it is said": lambda p, u: p.update(combined={}),
    "a name that is none": lambda p, u: p["combined"].update({"a b": p["loss"]}),
    "an integer is given": lambda p, u: p["combined"].update(
        y=next(n for n, item in enumerate(p["inputs"]) if item["dtype"] == "int64")
    ),
    "a count with axes": lambda p, u: p["combined"].update(count=p["combined"]["gradient:0.weight"]),
    "an update that gives": lambda p, u: u.update(combined={"loss": u["loss"]}),
    "a tensor that both change": lambda p, u: p["updates"].update(
        {"0.bias": next(n for n, item in enumerate(p["inputs"]) if item["name"] == "0.bias")}
    ),
    "what no share gives": lambda p, u: renamed(u, name="gradient:none"),
    "another shape": lambda p, u: renamed(u, shape=[1, 2, 3]),
    "another dtype": lambda p, u: renamed(u, dtype="int64"),
    "rows in an update": lambda p, u: renamed(u, kind="batch", name="x", shape=[6, 5]),
    "one thing twice": lambda p, u: u["inputs"].append(
        next(item for item in u["inputs"] if item["kind"] == "combined")
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_both_readers_refuse_programs_that_do_not_go_together(jobs: Callable[[str], Job], name: str) -> None:
    bundle = Bundle(jobs("float64-24").order)
    manifest = OrderManifest.from_bytes(canonical.encode(bundle.manifest))
    program, update = (json.loads(canonical.encode(each[""])) for each in (bundle.programs, bundle.updates))

    def check() -> None:
        read = (Turns.alone(Program.from_bytes(canonical.encode(each))) for each in (program, update))
        first, last = read
        check_inputs(manifest, first, bundle.group("order/initial"), last)

    check()
    bundle.check_pair(program, update, None)
    PAIRS[name](program, update)
    with pytest.raises(RefusedError):
        bundle.check_pair(program, update, None)
    with pytest.raises(ProgramError):
        check()
