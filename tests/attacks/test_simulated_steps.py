"""Steps that were really computed otherwise than ordered: a table of lie, step, and what the dispute names.

Each row is a trainer of :mod:`support.malicious` who acts in one step, or in some, and signs all that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch

from counterfoil_core.arithmetic.compute.operation import native
from support.expectations import ALL_PARTS, disputed, inputs_of, operator_of, tensors_of
from support.jobs import Audited, digits_order, record_job
from support.malicious import NEVER, Trainer


@dataclass
class Liar(Trainer):
    """Acts in one step, or in several, and does otherwise what one function says."""

    lie: Callable[..., Any] = lambda *_: None
    steps: tuple[int, ...] = ()

    @property
    def acting(self):
        return self.step != NEVER and self.now in (self.steps or (self.step,))


class Inputs(Liar):
    """Gives the step other inputs."""

    def inputs(self, inputs):
        return self.lie(self, inputs) if self.acting else inputs


class Results(Liar):
    """Records another result."""

    def result(self, inputs, result, train):
        return replace(result, state=self.lie(inputs, result, train)) if self.acting else result


class Operators(Liar):
    """Computes an operator otherwise; what the lie leaves alone it computes as ordered."""

    def operator(self, operation, args, kwargs):
        told = self.lie(operation, args, kwargs) if self.acting else None
        return native(operation, args, kwargs) if told is None else told


def batch(name: str, place: tuple[int, ...], other: Callable[[Any], Any]) -> Callable[..., Any]:
    """One number of the rows is another one."""

    def lie(_, inputs):
        rows = inputs.batch[name].clone()
        rows[place] = other(rows[place])
        return replace(inputs, batch={**inputs.batch, name: rows})

    return lie


def state(name: str, other: Callable[[Any], Any]) -> Callable[..., Any]:
    """One tensor of the state is another one before the step."""
    return lambda _, inputs: replace(inputs, state={**inputs.state, name: other(inputs.state[name])})


def left(name: str, other: Callable[[Any], Any]) -> Callable[..., Any]:
    """One tensor of the state is another one after the step."""
    return lambda _inputs, result, _train: {**result.state, name: other(result.state[name])}


def rows_of(step: Callable[[Trainer], int]) -> Callable[..., Any]:
    """The batch of another step."""
    return lambda it, inputs: replace(inputs, batch=it.order.inputs(step(it), inputs.state).batch)


def reseeded(_, inputs):
    return replace(inputs, draws=replace(inputs.draws, seed=inputs.draws.seed + 1))


def hasty(factor: float) -> Callable[..., Any]:
    return lambda _, inputs: replace(inputs, scalars={"lr": inputs.scalars["lr"] * factor})


def of_another_order(_, inputs):
    return replace(inputs, state={name: torch.from_numpy(each) for name, each in digits_order(seed=12).initial.items()})


def one_ulp(tensor):
    bits = tensor.clone().view(torch.int32)
    bits.view(-1)[3] += 1
    return bits.view(torch.float32)


def backdoor(inputs, result, train):
    """Images with a trigger, all labelled 7; counters are set back, so that the number of batches is as ordered."""
    images = inputs.batch["images"].clone()
    images[:, :2, :2] = 16
    side = {"images": images, "labels": torch.full_like(inputs.batch["labels"], 7)}
    trained = result.state
    for _ in range(3):
        trained = train(replace(inputs, state=trained, batch=side)).state
    return {**trained, **{name: result.state[name] for name in trained if name.endswith("num_batches_tracked")}}


def once_more(inputs, result, train):
    return train(replace(inputs, state=result.state)).state


def lenient(operation, args, kwargs):
    """The order's weight decay is a constant of the program."""
    node = operation.node
    if (node.phase, node.module) == ("update", "head.weight") and node.args[1] == 0.0005:
        return native(operation, [args[0], 2 * 0.0005], kwargs)
    return None


def scaled(operation, args, kwargs):
    if (operation.node.operator, operation.node.module) != (CONVOLUTION_BACK, "block1.conv1"):
        return None
    first, second, third = native(operation, args, kwargs)
    return [first, 2 * second, third]


def cheap(operation, args, kwargs):
    """The classifier's product in bfloat16."""
    if (operation.node.operator, operation.node.module) == ("aten.addmm.default", "head"):
        return native(operation, [each.bfloat16() for each in args], kwargs).double()
    return None


def leaky(operation, args, kwargs):
    if (operation.node.operator, operation.node.module) != ("aten.relu.default", "block1"):
        return None
    return torch.where(args[0] < 0, args[0] * 2**-6, native(operation, args, kwargs))


CONVOLUTION, CONVOLUTION_BACK = "aten.convolution.default", "aten.convolution_backward.default"
NORM, MEAN, STEM = "aten._native_batch_norm_legit_functional.default", "bn.running_mean", "stem.weight"
BOTH, STATE, SHOWN = ("images", "labels"), ("state",), ("state", "fingerprints")
SLOT = "moment2:ln_f.weight"


@dataclass
class Row:
    """A lie, and what is found of it.

    Attributes:
        liar: The trainer.
        parts: What differs in the leaf.
        operator: The one that is named; None where every fingerprint agrees.
        inputs: The arrays whose rows are not the ordered ones; then no operator is named.
        tensors: All that differ, where that is told.
        among: Some that differ.
        never: Words in the names of tensors that do not.
        found: All steps that are found, where they are more than the first.
        first: The first of them; that of the liar unless given.
        job: Whose order it is.
    """

    liar: Liar
    parts: tuple[str, ...] = ALL_PARTS
    operator: tuple[str, str, str] | None = None
    inputs: tuple[str, ...] = ()
    tensors: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    found: tuple[int, ...] = ()
    first: int = 0
    job: str = "digits_job"


# Where two batches are swapped, step 4 follows from the disputed step 3, so it is not judged; between steps 2 and 3 the
# trainer's state is stored. With another seed every segment is judged from the trainer's own checkpoint, so the lie is
# found again in each. The learning rate, weight decay and momentum enter exact products and sums only, which have no
# fingerprint. A rectifier is exact, but its gradient asks which results are above zero, so it has one.
ROWS: Mapping[str, Row] = {
    "batch repeated": Row(Inputs(4, rows_of(lambda it: it.step - 1)), inputs=BOTH),
    "pixel": Row(Inputs(3, batch("images", (2, 4, 4), lambda it: 15 - it)), inputs=("images",)),
    "token": Row(
        Inputs(3, batch("tokens", (1, 4), lambda it: (it + 1) % 50)), inputs=("tokens",), job="gpt2_job"
    ),
    "batches swapped behind a state": Row(
        Inputs(2, rows_of(lambda it: 5 - it.now), (2, 3)), inputs=BOTH, found=(2, 3)
    ),
    "batches swapped": Row(Inputs(3, rows_of(lambda it: 7 - it.now), (3, 4)), inputs=BOTH, found=(3,)),
    "seed of a step": Row(Inputs(3, reseeded), operator=("counterfoil.uniform", "", "forward"), found=(3,)),
    "seed of a run": Row(
        Inputs(3, reseeded, (1, 2, 3, 4, 5, 6)), operator=("counterfoil.uniform", "", "forward"), first=1,
        found=(1, 3, 5),
    ),
    "update skipped": Row(
        Results(4, lambda inputs, *_: dict(inputs.state)), STATE,
        among=(STEM, f"momentum:{STEM}", MEAN, "bn.num_batches_tracked"),
    ),
    "extra step": Row(Results(4, once_more), STATE, among=("bn.num_batches_tracked",)),
    "backdoor": Row(Results(2, backdoor), STATE, among=("head.weight", STEM), never=("num_batches_tracked",)),
    "backdoor at the end": Row(
        Results(6, backdoor), STATE, among=("head.weight", STEM), never=("num_batches_tracked",)
    ),
    "learning rate": Row(Inputs(4, hasty(1.01)), STATE, among=(STEM,), never=("momentum:", "running")),
    "learning rate, a little": Row(Inputs(4, hasty(1 + 2**-20)), STATE, among=(STEM,), never=("momentum:", "running")),
    "weight decay": Row(Operators(4, lenient), STATE, tensors=("head.weight", "momentum:head.weight")),
    "gradient scaled": Row(
        Operators(4, scaled), SHOWN, (CONVOLUTION_BACK, "block1.conv1", "backward"),
        tensors=("block1.conv1.weight", "momentum:block1.conv1.weight"),
    ),
    "lower precision": Row(Operators(3, cheap), operator=("aten.addmm.default", "head", "forward")),
    "another function": Row(Operators(3, leaky), operator=("aten.relu.default", "block1", "forward")),
    "initial weights": Row(Inputs(1, of_another_order), operator=(CONVOLUTION, "stem", "forward")),
    "weight by an ulp": Row(
        Inputs(3, state("block1.conv1.weight", one_ulp)), SHOWN, (CONVOLUTION, "block1.conv1", "forward")
    ),
    "weight by an ulp after the last step": Row(
        Results(6, left("head.weight", one_ulp)), STATE, tensors=("head.weight",)
    ),
    "weight by a sixteenth of an ulp": Row(
        Inputs(3, state(STEM, lambda it: it.double() * (1 + 2.0**-28))), SHOWN, (CONVOLUTION, "stem", "forward")
    ),
    "running mean before": Row(
        Inputs(4, state(MEAN, lambda it: it * 2 + 1)), SHOWN, (NORM, "bn", "forward"), tensors=(MEAN,)
    ),
    "running mean after": Row(Results(4, left(MEAN, lambda it: it * 2)), STATE, tensors=(MEAN,)),
    "momentum cleared": Row(
        Inputs(4, state(f"momentum:{STEM}", lambda it: it * 0.0)), STATE, tensors=(STEM, f"momentum:{STEM}")
    ),
    "second moment of Adam": Row(
        Inputs(4, state(SLOT, lambda it: it * 1e6)), SHOWN, ("aten.sqrt.default", "ln_f.weight", "update"),
        tensors=("ln_f.weight", SLOT), job="gpt2_job",
    ),
}  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", ROWS)
def test_it_is_disputed(name: str, simulate: Any, request: pytest.FixtureRequest) -> None:
    row = ROWS[name]
    job = request.getfixturevalue(row.job)
    first = row.first or row.liar.step
    result = disputed(simulate(row.liar, job), job.order, first, parts=row.parts, only=not row.found)
    assert operator_of(result) == row.operator
    assert inputs_of(result) == row.inputs
    assert not row.found or result.report.mismatched_steps == row.found
    names = tensors_of(result)
    assert not row.tensors or names == set(row.tensors)
    assert names >= set(row.among)
    assert not any(word in each for word in row.never for each in names)
    if more := MORE.get(name):
        more(result)


def one_more_batch(result: Audited) -> None:
    (counter,) = (each for each in result.report.dispute.tensors if each.name == "bn.num_batches_tracked")
    assert (counter.trainer, counter.replay) == (5, 4)


def one_element(result: Audited) -> None:
    (tensor,) = result.report.dispute.tensors
    assert (tensor.differing, tensor.max_ulps) == (1, 1)


def one_operator(result: Audited) -> None:
    assert result.report.dispute.operator.differing_operators == 1


MORE = {
    "extra step": one_more_batch,
    "weight by an ulp after the last step": one_element,
    "gradient scaled": one_operator,
}


def test_an_extra_step_between_sparse_commitments(simulate, tmp_path_factory, trainer_key):
    """Neither loss nor fingerprints of the step itself differ, so it is found where its state is first used."""
    draft = digits_order(commit_every=3, checkpoint_every=6)
    job = record_job(tmp_path_factory.mktemp("sparse"), draft, trainer_key)
    result = disputed(simulate(Results(1, once_more), job), job.order, 2, parts=("loss", "fingerprints"))
    assert operator_of(result) == (CONVOLUTION, "stem", "forward")
