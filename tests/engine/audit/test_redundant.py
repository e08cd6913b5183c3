"""Ten shares, each computed by three of five parties: who lies contradicts somebody, and a replay settles the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import counterfoil
from counterfoil.audit.redundant import Copy, right_copy
from counterfoil.redundancy.agreement import Given
from counterfoil.redundancy.assignment import subset_assignment
from counterfoil.redundancy.distortion import strongest_lies
from counterfoil.redundancy.roster import Roster
from counterfoil.training.orderfile import prepare_order
from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.generators import finish
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.order.loaded import LoadedOrder
from counterfoil_core.replay.sharedreplay import SharedReplayer, step_replayer
from counterfoil_core.signing.keys import SigningKey
from support.jobs import record_job, record_run

PARTIES, COPIES, FAULTY, STEPS = 5, 3, 2, 3
LIARS = (0, 1)


def other_labels(inputs: StepInputs) -> StepInputs:
    """Every share of every step is trained on other labels."""
    return replace(inputs, batch={**inputs.batch, "y": (inputs.batch["y"] + 1) % 3}) if inputs.batch else inputs


class Parties:
    """An order, and for each step the right copy of every share and the one of who lies, by the state before it."""

    def __init__(self, folder: Path, key: SigningKey) -> None:
        torch.manual_seed(0)
        rng = np.random.default_rng(0)
        data = {"x": rng.standard_normal((40, 4)).astype(np.float32), "y": rng.integers(0, 3, 40)}
        model = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))
        job = counterfoil.CustomJob(
            "redundant",
            model,
            lambda model, batch: nn.functional.cross_entropy(model(batch["x"]), batch["y"]),
            torch.optim.SGD(model.parameters(), 0.1),
            data,
            STEPS,
            batch_size=10,
            shares=10,
            checkpoint_every=1,
        )
        made = record_job(folder, counterfoil.order_custom(job), key)
        lying = record_run(made.order, folder / "lying.cfoil", key, tamper=other_labels)
        with BundleReader.open(made.order) as reader:
            self.order: LoadedOrder = prepare_order(reader.manifest, reader.check_order_contents())
        self.right, self.states = _copies(made.run), _states(made.run)
        # Who lies does so from the right state: only what its shares give is another. That is so in the first step.
        self.wrong = _copies(lying)[1]

    def given(self, roster: Roster, step: int, lies: frozenset[int]) -> list[dict[int, Copy]]:
        return [
            {
                party: self.wrong[share] if party in LIARS and share in lies and step == 1 else self.right[step][share]
                for party in parties
            }
            for share, parties in enumerate(roster.assignment)
        ]


def _copies(run: Path) -> dict[int, list[Copy]]:
    found = {}
    with BundleReader.open(run) as reader:
        for step in range(1, STEPS + 1):
            held, log = reader.shares(step), reader.log(step)
            assert held is not None
            pieces = [log[first:last] for first, last in held.log_ranges()]
            found[step] = [Copy(record, piece) for record, piece in zip(held.records, pieces, strict=True)]
    return found


def _states(run: Path) -> dict[int, Mapping[str, Tensor]]:
    with BundleReader.open(run) as reader:
        states = {0: reader.initial_state()} | {step: reader.checkpoint(step) for step in range(1, STEPS)}
    return {step: {name: torch.from_numpy(array) for name, array in each.items()} for step, each in states.items()}


@pytest.fixture(scope="module")
def parties(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Parties:
    return Parties(tmp_path_factory.mktemp("redundant"), trainer_key)


def trained(parties: Parties, lies: frozenset[int]) -> tuple[Roster, list[tuple[int, int]]]:
    """Settle every step, and return the roster at the end and what was replayed."""
    roster, replayed = Roster(PARTIES, FAULTY, subset_assignment(PARTIES, COPIES)), list[tuple[int, int]]()
    with step_replayer(parties.order, open_machine("cpu", 1)) as steps:
        assert isinstance(steps, SharedReplayer)
        for step in range(1, STEPS + 1):
            copies = parties.given(roster, step, lies)
            given: list[Given] = [{party: copy.record.leaf for party, copy in share.items()} for share in copies]

            def replay(
                share: int, step: int = step, copies: list[dict[int, Copy]] = copies, steps: SharedReplayer = steps
            ) -> Digest:
                replayed.append((step, share))
                distinct = list({copy.record.leaf: copy for copy in copies[share].values()}.values())
                return finish(right_copy(steps, step, parties.states[step - 1], distinct)).leaf

            roster, values = roster.settle(step, given, replay)
            assert values == tuple(copy.record.leaf for copy in parties.right[step])
    return roster, replayed


def test_honest_parties_agree_and_nothing_is_replayed(parties: Parties) -> None:
    roster, replayed = trained(parties, frozenset())
    assert (roster.excluded, roster.detours, replayed) == ((), (), [])


def test_two_colluders_whom_no_clique_tells_are_told_by_one_replay(parties: Parties) -> None:
    assignment = subset_assignment(PARTIES, COPIES)
    roster, replayed = trained(parties, strongest_lies(assignment, FAULTY))
    assert {each.party for each in roster.excluded} == set(LIARS)
    assert len(replayed) == 1
    (detour,) = roster.detours
    assert (detour.step, detour.replayed) == (1, (replayed[0][1],))
    assert all(each.replayed == replayed[0][1] for each in detour.excluded)
    assert all(set(share) == {2, 3, 4} for share in roster.assignment)


def test_two_who_lie_about_everything_are_told_by_whom_they_contradict(parties: Parties) -> None:
    roster, replayed = trained(parties, frozenset(range(10)))
    assert {(each.party, each.replayed) for each in roster.excluded} == {(0, None), (1, None)}
    assert replayed == []


def test_where_nobody_gave_what_was_ordered_a_sentence_says_so(parties: Parties) -> None:
    with step_replayer(parties.order, open_machine("cpu", 1)) as steps:
        assert isinstance(steps, SharedReplayer)
        with pytest.raises(DataError, match="share 4 of step 1, nothing is what was ordered"):
            finish(right_copy(steps, 1, parties.states[0], [parties.wrong[4]]))
