"""One run, recorded by several ranks: its root is that of one process, whatever becomes of a rank."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import counterfoil
from counterfoil.sandbox.box import SWITCH
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil_core.base.stoprule import StopRule
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import state_root
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.statements import open_said
from support.jobs import audited
from support.nameless import NAME, nameless, why_not
from support.worlds import RankEnd, Worlds

STEPS = 6
PARTIES = {0: "01" * 32, 1: "02" * 32}
"""Seeds of the keys of parties, by their shares."""
PAGE = Path(__file__).parents[3] / "docs" / "many-devices.md"
SLOW_WORLDS = [pytest.param(size, marks=pytest.mark.slow) for size in (3, 4)]


def write_order(path: Path, shares: int, **settings: object) -> Path:
    """A classifier with batch norm and dropout, whose steps have so many shares."""
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    rows = {"x": random.standard_normal((48, 8)).astype(np.float32), "y": random.integers(0, 4, 48)}
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Dropout(0.1), nn.ReLU(), nn.Linear(16, 4))

    def objective(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
        return functional.cross_entropy(model(batch["x"]), batch["y"])

    chosen = {"batch_size": 2 * shares, "shares": shares, "checkpoint_every": 3} | settings
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    counterfoil.order_custom(counterfoil.CustomJob("ranks", model, objective, optimizer, rows, STEPS, **chosen)).write(
        path
    )  # type: ignore[arg-type]
    return path


@pytest.fixture(scope="module")
def worlds() -> Iterator[Worlds]:
    with Worlds(boxed=True) as found:
        yield found


@pytest.fixture(scope="module")
def open_worlds() -> Iterator[Worlds]:
    with Worlds(boxed=False) as found:
        yield found


@pytest.fixture(scope="module")
def order(tmp_path_factory) -> Path:
    return write_order(tmp_path_factory.mktemp("order") / "job.cfoil", 4)


@pytest.fixture(scope="module")
def exact_order(tmp_path_factory) -> Path:
    precision = counterfoil.ExactPrecision(20)
    return write_order(tmp_path_factory.mktemp("exact") / "job.cfoil", 4, precision=precision)


@pytest.fixture(scope="module")
def alone(worlds, order, tmp_path_factory) -> Path:
    """The run of one process."""
    run = tmp_path_factory.mktemp("alone") / "run.cfoil"
    (end,) = worlds.record(1, order, run)
    assert end.code == 0, end
    return run


@pytest.fixture(scope="module")
def root(alone) -> str:
    """Its run root."""
    with BundleReader.open(alone) as run:
        return open_said(RunClaim, run.claim()).run_root.hex


def failed(ends: list[RankEnd], sentence: str) -> None:
    """Rank 0 says this, and no rank hangs or ends well."""
    assert re.fullmatch(sentence, ends[0].sentence), ends
    assert all(end.code for end in ends), ends
    assert max(end.seconds for end in ends) < 60


@pytest.mark.parametrize("size", [2, *SLOW_WORLDS])
def test_a_world_gives_the_run_root_of_one_process(worlds, order, root, size, tmp_path) -> None:
    first, *rest = worlds.record(size, order, tmp_path / "run.cfoil")
    assert (first.code, first.root) == (0, root), first
    assert first.events[-1] == "RecordFinished"
    assert [(end.code, end.events[0], end.events[-1]) for end in rest] == [(0, "RecordStarted", "RankFinished")] * (
        size - 1
    )
    assert [end.events.count("StepRecorded") for end in rest] == [STEPS] * (size - 1)
    assert not list(tmp_path.glob(".*")), "nothing is left of the recording"


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 4])
def test_so_it_does_under_an_exact_profile(worlds, exact_order, size, tmp_path) -> None:
    (alone,) = worlds.record(1, exact_order, tmp_path / "alone.cfoil")
    ends = worlds.record(size, exact_order, tmp_path / "run.cfoil")
    assert alone.root
    assert ends[0].root == alone.root, ends


@pytest.mark.sampled(1)
@pytest.mark.parametrize("buffers", ["first", "mean"])
def test_shares_need_not_be_as_many_on_each_rank(worlds, buffers, tmp_path) -> None:
    precision = counterfoil.ExactPrecision(20) if buffers == "mean" else None
    order = write_order(tmp_path / "job.cfoil", 3, buffers=buffers, precision=precision)
    (alone,) = worlds.record(1, order, tmp_path / "alone.cfoil")
    ends = worlds.record(2, order, tmp_path / "run.cfoil")
    assert alone.root
    assert ends[0].root == alone.root, ends


def test_only_the_environment_of_the_claim_tells_of_ranks(worlds, order, alone, tmp_path) -> None:
    worlds.record(2, order, tmp_path / "run.cfoil")
    with BundleReader.open(alone) as one, BundleReader.open(tmp_path / "run.cfoil") as run:
        assert [each.to_bytes() for each in run.step_records()] == [each.to_bytes() for each in one.step_records()]
        for step in (1, STEPS):
            assert run.shares(step).records == one.shares(step).records
        environment = environment_of(run)
        assert environment["ranks"] == "2"
        assert environment["rank_devices"].startswith("0-1: cpu (")
        assert "ranks" not in environment_of(one)
        assert environment["sandbox"] == words(environment)
        # Buffers are those of share 0; each share has batch statistics of its own.
        arrays = run.checkpoint(STEPS)
        buffers = {name: arrays[name] for name in arrays if "running" in name or "num_batches" in name}
        records = run.shares(STEPS).records
        assert len(buffers) == 3
        assert records[0].buffers == state_root(buffers) != records[3].buffers


def words(environment: dict[str, str]) -> str:
    """What is said of the boxes of ranks, all of which are closed alike."""
    if sys.platform != "linux":
        return "none: this system has neither Landlock nor seccomp"
    said = re.fullmatch(r"(landlock-v[0-9]+, )?seccomp(; without [^;0-9]*)?", environment["sandbox"])
    assert said is not None, environment["sandbox"]
    return said.group()


@pytest.mark.slow
def test_control_ranks_in_no_box_say_so_and_record_the_same(open_worlds, order, root, tmp_path) -> None:
    ends = open_worlds.record(2, order, tmp_path / "run.cfoil")
    assert ends[0].root == root, ends
    with BundleReader.open(tmp_path / "run.cfoil") as run:
        assert environment_of(run)["sandbox"] == f"none: switched off by {SWITCH}"
    ends = open_worlds.record(2, order, tmp_path / "lied.cfoil", others={1: {"event": "lies", "step": 4}})
    failed(ends, re.escape(LIED.format(2)))
    ends = open_worlds.record(2, order, tmp_path / "killed.cfoil", others={1: {"event": "kill later", "step": 5}})
    failed(ends, "Rank 1 is gone: .*")


def test_the_rule_of_an_order_ends_the_run_on_all_ranks(worlds, tmp_path) -> None:
    order = write_order(tmp_path / "job.cfoil", 2, may_stop_early=StopRule(2, min_fall=10.0))
    (alone,) = worlds.record(1, order, tmp_path / "alone.cfoil")
    ends = worlds.record(2, order, tmp_path / "run.cfoil")
    assert ends[0].root == alone.root != ""
    assert [end.events.count("StepRecorded") for end in ends] == [3, 3]


def test_a_rank_that_is_killed_is_named_and_any_number_goes_on(worlds, order, root, tmp_path) -> None:
    run = tmp_path / "run.cfoil"
    ends = worlds.record(2, order, run, others={1: {"event": "kill", "step": 5}})
    failed(ends, "Rank 1 is gone: it was killed, ran out of memory, or its machine was lost.")
    assert "--resume goes on from there" in ends[0].remedy
    assert ends[0].events.count("StepRecorded") == 4
    assert not run.exists()
    (alone,) = worlds.record(1, order, run, resume=True)
    assert alone.root == root
    assert alone.events.count("StepRecorded") == 2


@pytest.mark.slow
def test_so_it_is_where_its_connection_breaks(worlds, order, tmp_path) -> None:
    ends = worlds.record(2, order, tmp_path / "run.cfoil", others={1: {"event": "kill later", "step": 5}})
    failed(ends, "Rank 1 is gone: .*")


def test_one_process_begins_and_two_ranks_go_on(worlds, order, root, tmp_path) -> None:
    run = tmp_path / "run.cfoil"
    (stopped,) = worlds.record(1, order, run, others={0: {"event": "cancel", "step": 3}})
    assert stopped.error == "CancelledError"
    ends = worlds.record(2, order, run, resume=True)
    assert ends[0].root == root, ends[0].sentence
    assert ends[0].events.count("StepRecorded") == 4


def test_a_rank_zero_that_is_killed_ends_the_others(worlds, order, tmp_path) -> None:
    ends = worlds.record(2, order, tmp_path / "run.cfoil", others={0: {"event": "kill", "step": 3}})
    assert ends[0].code < 0
    assert re.fullmatch("Rank 0 is gone: .*", ends[1].sentence), ends


def test_a_rank_without_memory_says_so(worlds, order, tmp_path) -> None:
    ends = worlds.record(2, order, tmp_path / "run.cfoil", others={1: {"event": "memory", "step": 3}})
    failed(ends, "Rank 1 failed: .*memory.*")
    assert ends[1].error == "MemoryShortageError"


def test_an_interrupt_stops_all_and_keeps_what_is_finished(worlds, order, tmp_path) -> None:
    stops = {rank: {"event": "cancel", "step": 4} for rank in range(2)}
    ends = worlds.record(2, order, tmp_path / "run.cfoil", others=stops)
    failed(ends, "Stopped; the first 3 steps are kept in .*")
    assert {end.error for end in ends} == {"CancelledError"}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"order": "other"}, "Its order is another one than rank 0's: .*"),
        ({"order": "none.cfoil"}, "There is no .*none.cfoil.*"),
        ({"version": "0.0.1"}, f"It runs Counterfoil 0.0.1, and rank 0 runs {counterfoil.__version__}."),
    ],
    ids=["another order", "no order", "another version"],
)
def test_a_rank_that_has_something_else_is_refused(worlds, order, exact_order, tmp_path, other, said) -> None:
    given = {name: exact_order if value == "other" else value for name, value in other.items()}
    failed(worlds.record(2, order, tmp_path / "run.cfoil", others={1: given}), f"Rank 1 failed: {said}")
    assert not list(tmp_path.glob(".*")), "no recording was begun"


def test_a_rank_that_computes_otherwise_is_named_before_anything_is_signed(worlds, order, root, tmp_path) -> None:
    run, heads = tmp_path / "run.cfoil", tmp_path / "heads.jsonl"
    ends = worlds.record(3, order, run, heads=heads, others={2: {"event": "otherwise", "step": 5}})
    failed(ends, "Rank 2 has another state after step 5: its machine computes otherwise than 2 others, .*")
    assert len(heads.read_text().splitlines()) == 4, "nothing after step 4 was signed"
    ends = worlds.record(2, order, run, heads=heads, resume=True)
    assert ends[0].root == root, ends[0].sentence


def test_two_ranks_that_differ_are_both_named_and_forgotten(worlds, order, root, tmp_path) -> None:
    run = tmp_path / "run.cfoil"
    ends = worlds.record(2, order, run, others={1: {"event": "otherwise", "step": 5}})
    failed(ends, "Ranks 0 and 1 have different states after step 6: the machine of one of them computes otherwise, .*")
    (alone,) = worlds.record(1, order, run, resume=True)
    assert alone.root == root
    assert alone.events.count("StepRecorded") == 3, "what was made of different states since step 3 is not kept"


@pytest.fixture(scope="module")
def signed_order(tmp_path_factory) -> Path:
    """An order with a party for each of its two shares."""
    signers = [key_from_seed(bytes.fromhex(seed)).public for seed in PARTIES.values()]
    return write_order(tmp_path_factory.mktemp("signed") / "job.cfoil", 2, signers=signers)


def of_parties(size: int, **special: object) -> dict[int, dict[str, object]]:
    """What each rank is given: the key of its own party alone where there are two; the last one does something else."""
    keys = [{share: PARTIES[share]} for share in range(size)] if size == 2 else [PARTIES]
    return {rank: {"parties": given, **(special if rank == size - 1 else {})} for rank, given in enumerate(keys)}


def test_ranks_sign_what_one_process_signs(worlds, signed_order, tmp_path) -> None:
    runs = [tmp_path / f"{size}.cfoil" for size in (1, 2)]
    ends = [worlds.record(size, signed_order, run, others=of_parties(size))[0] for size, run in enumerate(runs, 1)]
    assert ends[0].root == ends[1].root != "", ends
    with BundleReader.open(runs[0]) as one, BundleReader.open(runs[1]) as two:
        for step in range(1, STEPS + 1):
            assert np.array_equal(one.shares(step).signatures, two.shares(step).signatures)


def test_a_rank_that_gives_no_signature_is_named_before_a_run_is_made_of_it(worlds, signed_order, tmp_path) -> None:
    run = tmp_path / "run.cfoil"
    ends = worlds.record(2, signed_order, run, others=of_parties(2, event="junk", step=4))
    failed(ends, "Rank 1 gave share 1 of step 4 without the signature of the party that answers for it.")
    assert "--resume" in ends[0].remedy
    assert not run.exists()
    ends = worlds.record(2, signed_order, run, resume=True, others=of_parties(2))
    assert ends[0].root, ends
    assert ends[0].events.count("StepRecorded") == STEPS - 3, "what was signed before it is kept"


LIED = "Rank 1 lied in step 4: what it sent of share {} is not what it signed for."


@pytest.mark.sampled(1)
@pytest.mark.parametrize("event", ["lies", "exponents", "hashes"])
def test_a_rank_that_adds_something_else_than_it_signed_is_named(worlds, signed_order, event, tmp_path) -> None:
    run = tmp_path / "run.cfoil"
    ends = worlds.record(2, signed_order, run, others=of_parties(2, event=event, step=4))
    failed(ends, re.escape(LIED.format(1)))
    assert not run.exists()
    ends = worlds.record(2, signed_order, run, resume=True, others=of_parties(2))
    assert ends[0].events.count("StepRecorded") == STEPS - 3, "every step before it is kept"


def test_one_that_tells_of_another_record_than_it_gives_is_named(worlds, order, tmp_path) -> None:
    ends = worlds.record(2, order, tmp_path / "run.cfoil", others={1: {"event": "tells", "step": 4}})
    failed(ends, "Rank 1 gave another record of share 2 of step 4 than all were told of, or that was altered .*")


@pytest.mark.parametrize("size", [2, *SLOW_WORLDS[:1]])
def test_so_it_is_where_nobody_signs(worlds, order, size, tmp_path) -> None:
    ends = worlds.record(size, order, tmp_path / "run.cfoil", others={1: {"event": "lies", "step": 4}})
    failed(ends, re.escape(LIED.format(4 // size)))


def test_one_that_sends_what_it_should_when_it_is_asked_changes_nothing(worlds, order, root, tmp_path) -> None:
    ends = worlds.record(2, order, tmp_path / "run.cfoil", others={1: {"event": "adds", "step": 3}})
    assert ends[0].root == root, ends


def test_one_that_sends_nothing_is_silent_and_no_liar(worlds, order, tmp_path) -> None:
    ends = worlds.record(2, order, tmp_path / "run.cfoil", others={1: {"event": "silent", "step": 4}})
    failed(ends, "Rank 1 is silent: asked once more for share 2 of step 4, it sent nothing for 4 seconds.")


def test_one_that_signs_for_its_lie_is_named_by_an_audit(worlds, signed_order, tmp_path) -> None:
    """What it signed adds up to what was added, and is not what its share gave: a replay of the share shows it."""
    run = tmp_path / "run.cfoil"
    ends = worlds.record(2, signed_order, run, others=of_parties(2, event="signs", step=4))
    assert ends[0].root, ends
    party = key_from_seed(bytes.fromhex(PARTIES[1])).public.key_id
    for chosen in ((), (1,)):
        result = audited(run, signed_order, shares=chosen)
        found = result.report.dispute
        assert found is not None, result.report.reason
        assert (found.step, found.part, found.signer) == (4, "combine", party)
        assert f"The party with the key {party} signed" in result.report.reason


def test_control_without_the_check_the_trainer_would_be_disputed(worlds, signed_order, tmp_path) -> None:
    run = tmp_path / "run.cfoil"
    others = of_parties(2, event="lies", step=4)
    ends = worlds.record(2, signed_order, run, others={rank: {**each, "trusts": True} for rank, each in others.items()})
    assert ends[0].root, ends
    report = audited(run, signed_order).report
    assert report.dispute is not None, report.reason
    assert (report.dispute.step, report.dispute.part, report.dispute.signer) == (4, "combine", "")


@pytest.fixture(scope="module")
def stacked(tmp_path_factory) -> Path:
    """An order whose shares lie side by side."""
    return write_order(tmp_path_factory.mktemp("stacked") / "job.cfoil", 4, aggregate="median")


def test_so_it_is_where_shares_lie_side_by_side(worlds, stacked, tmp_path) -> None:
    ends = worlds.record(2, stacked, tmp_path / "run.cfoil", others={1: {"event": "shows", "step": 4}})
    failed(ends, re.escape(LIED.format(2)))


@pytest.mark.slow
def test_there_too_what_is_right_when_it_is_asked_for_changes_nothing(worlds, stacked, tmp_path) -> None:
    runs = [tmp_path / "alone.cfoil", tmp_path / "run.cfoil"]
    (alone,) = worlds.record(1, stacked, runs[0])
    ends = worlds.record(2, stacked, runs[1], others={1: {"event": "altered", "step": 4}})
    assert ends[0].root == alone.root != "", ends


@pytest.mark.parametrize(
    ("shares", "size", "said", "remedy"),
    [
        (1, 2, "The order has no shares, so 2 ranks cannot divide its steps.", "--shares 2"),
        (2, 3, "The order has 2 shares a step, and there are 3 ranks: some would have nothing to do.", ""),
    ],
)
def test_more_ranks_than_shares_are_refused(worlds, tmp_path, shares, size, said, remedy) -> None:
    ends = worlds.record(size, write_order(tmp_path / "job.cfoil", shares), tmp_path / "run.cfoil")
    failed(ends, said)
    assert remedy in ends[0].remedy


@pytest.mark.slow
def test_a_rank_that_hangs_is_found(worlds, order, tmp_path) -> None:
    ends = worlds.record(2, order, tmp_path / "run.cfoil", others={1: {"event": "freeze", "step": 3}})
    assert re.fullmatch("Rank 1 is gone: .*", ends[0].sentence), ends


@pytest.mark.slow
@pytest.mark.parametrize(
    "named",
    [True, False],
    ids=["here", "on a machine without an address for its own name"],
)
def test_torchrun_as_the_page_says_it(order, root, tmp_path, named) -> None:
    if not named and (reason := why_not()):
        pytest.skip(reason)
    environment = {**(os.environ if named else nameless(tmp_path)), "PYTHONPATH": os.pathsep.join(sys.path), SWITCH: ""}
    (tmp_path / "job.cfoil").write_bytes(order.read_bytes())
    counterfoil.generate_key(tmp_path / "trainer.pem", None)
    (command,) = re.findall(r"^torchrun --standalone (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert "--nproc-per-node 4 " in command
    command = command.replace("--nproc-per-node 4 ", "--nproc-per-node 2 ")  # each loads torch
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", *command.split()],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100, check=True,
    )  # fmt: skip
    assert done.stdout.count(f"Run root {root}") == 1, "only rank 0 says something"
    assert "Recorded by 2 ranks: 4 shares a step." in done.stdout
    with BundleReader.open(tmp_path / "run.cfoil") as reader:
        environment = environment_of(reader)
        assert (environment["threads"], environment["sandbox"]) == ("1", words(environment))


@pytest.mark.parametrize("rank", [pytest.param("0", marks=pytest.mark.slow), "1"])
def test_ranks_that_cannot_find_each_other_say_why(order, tmp_path, rank) -> None:
    if reason := why_not():
        pytest.skip(reason)
    environment = {
        **nameless(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path), "RANK": rank, "WORLD_SIZE": "2",
        "MASTER_ADDR": NAME, "MASTER_PORT": "29500",
    }  # fmt: skip
    counterfoil.generate_key(tmp_path / "trainer.pem", None)
    program = (
        "import sys; from counterfoil.cli import main; from counterfoil.distributed import direct\n"
        "direct.RANK_0_SECONDS = 1.0\n"
        f"sys.exit(main(['train', {str(order)!r}, '--out', 'run.cfoil', '--key', 'trainer.pem']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert f"{NAME}:29500, is not reached: no address is found for the name {NAME}." in said
    assert "torchrun --standalone --local-addr 127.0.0.1" in said
    assert "Traceback" not in said


def environment_of(reader: BundleReader) -> dict[str, str]:
    return dict(open_said(RunClaim, reader.claim()).environment)
