"""What surrounds a model or a function is left out, or named: wrappers, devices, kernels, sparse and double tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed
from torch import Tensor, nn
from torch.distributions import Beta, Dirichlet, Gamma
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.parallel import DataParallel, DistributedDataParallel

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.update import Sgd
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.errors import CounterfoilError, DataError, ProgramError
from counterfoil_core.operators.node import TensorType

BATCH = {"x": TensorType("float32", (4, 3)), "y": TensorType("int64", (4,))}
Step = Callable[[nn.Module, Mapping[str, Tensor]], Tensor]
ADJACENCY = torch.tensor([[0.0, 0.5, 0.5, 0], [1, 0, 0, 0], [0.25, 0, 0, 0.75], [0, 0, 1, 0]])
TABLE = np.linspace(0.1, 0.9, 7) ** 3


def plain(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return functional.cross_entropy(model(batch["x"]), batch["y"])


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(3, 2)


def captured(step: Step = plain, model: nn.Module | None = None) -> CapturedStep:
    return capture(network() if model is None else model, step, Sgd(), BATCH)


def loss_of(step: CapturedStep) -> float:
    given = {"x": torch.arange(12.0).reshape(4, 3) / 7 - 0.5, "y": torch.tensor([0, 1, 1, 0])}
    inputs = StepInputs(step.initial_state, given, {"lr": 0.1}, Draws(1, 1))
    return Interpreter(step.program, torch.device("cpu")).run(inputs).loss


PLAIN = captured()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A group of one process."""
    store = torch.distributed.FileStore(str(tmp_path_factory.mktemp("group") / "store"), 1)
    torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=store)
    yield
    torch.distributed.destroy_process_group()


class TestWrappers:
    @pytest.mark.parametrize("wrap", [DataParallel, DistributedDataParallel])
    def test_within_an_objective(self, wrap: Callable[[nn.Module], nn.Module], alone: None) -> None:
        model = network()
        wrapped = wrap(model)
        step = captured(lambda _model, batch: plain(wrapped, batch), model)
        assert step.program.digest == PLAIN.program.digest
        assert [note.partition(" ")[0] for note in step.notes] == [type(wrapped).__name__]
        assert PLAIN.notes == ()

    def test_over_several_processes_it_is_refused(self, alone: None, monkeypatch: pytest.MonkeyPatch) -> None:
        model = network()
        wrapped = DistributedDataParallel(model)
        monkeypatch.setattr(type(wrapped.process_group), "size", lambda _: 2)
        with pytest.raises(ProgramError, match="DistributedDataParallel over 2 processes") as refused:
            captured(lambda _model, batch: plain(wrapped, batch), model)
        assert "one process" in refused.value.remedy

    def test_compiled_functions_and_modules(self) -> None:
        model = network()
        compiled: Any = torch.compile(plain)
        assert captured(compiled, model).program.digest == PLAIN.program.digest
        within = captured(lambda m, b: torch.compile(plain)(torch.compile(m), b), model)
        assert within.program.digest == PLAIN.program.digest


@pytest.mark.parametrize(
    "moved",
    [
        lambda x: x.to("cuda"),
        lambda x: x.cuda(),
        lambda x: x.to(torch.device("cuda", 1), non_blocking=True),
        lambda x: x.to(device="cuda", dtype=torch.float32),
        lambda x: torch.zeros_like(x, device="mps") + x,
        lambda x: x + torch.zeros(3, device="cuda:0"),
    ],
    ids=["to", "cuda", "device", "dtype", "like", "made"],
)
def test_devices_are_left_out_with_a_note(moved: Callable[[Tensor], Tensor]) -> None:
    step = captured(lambda model, batch: plain(model, {**batch, "x": moved(batch["x"])}))
    assert loss_of(step) == pytest.approx(loss_of(PLAIN), rel=1e-12)
    assert len(step.notes) == 1
    assert f"{Path(__file__)}, line " in step.notes[0]


def test_another_dtype_on_another_device_is_what_it_is() -> None:
    step = captured(lambda model, batch: model(batch["x"].to("cuda", torch.int32).float()).square().mean())
    assert "int32" in step.program.to_bytes().decode()


def attending(choose: Callable[[], Any]) -> Step:
    def step(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        x = model(batch["x"])[None, None]
        with choose():
            return functional.scaled_dot_product_attention(x, x, x).square().mean()

    return step


def test_a_chosen_kernel_is_the_plain_definition() -> None:
    expected = captured(attending(nullcontext)).program.digest
    assert captured(attending(lambda: sdpa_kernel(SDPBackend.FLASH_ATTENTION))).program.digest == expected
    assert captured(attending(lambda: sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION], True))).program.digest == expected


def mixing(mix: Callable[[Tensor], Tensor]) -> Step:
    return lambda model, batch: functional.cross_entropy(mix(model(batch["x"])), batch["y"])


class TestSparse:
    @pytest.mark.parametrize(
        "mix",
        [
            lambda x, a: torch.spmm(a, x),
            lambda x, a: torch.sparse.mm(a, x),
            lambda x, a: a @ x,
            lambda x, a: a.to_sparse_csr() @ x,
            lambda x, a: a.coalesce().to_dense() @ x,
            lambda x, a: torch.sparse_coo_tensor(a.coalesce().indices(), a.coalesce().values(), a.shape) @ x,
        ],
        ids=["spmm", "sparse.mm", "matmul", "csr", "dense", "made of constants"],
    )
    def test_constants_become_dense_with_a_note(self, mix: Callable[[Tensor, Tensor], Tensor]) -> None:
        adjacency = ADJACENCY.to_sparse()
        step = captured(mixing(lambda x: mix(x, adjacency)))
        assert loss_of(step) == pytest.approx(loss_of(captured(mixing(lambda x: ADJACENCY @ x))), rel=1e-12)
        assert "4 x 4 is made dense" in step.notes[0]
        assert adjacency.is_sparse

    @pytest.mark.parametrize(
        "take",
        [
            lambda x, sparse: functional.embedding(torch.tensor([1, 0]), x, sparse=sparse),
            lambda x, sparse: torch.embedding(x, torch.tensor([1, 0]), -1, False, sparse),
            lambda x, sparse: functional.embedding_bag(torch.tensor([[1, 0]]), x, mode="sum", sparse=sparse),
            lambda x, sparse: torch.gather(x, 0, torch.tensor([[1, 0, 0]]), sparse_grad=sparse),
        ],
        ids=["embedding", "by position", "bag", "gather"],
    )
    def test_a_sparse_gradient_is_taken_as_a_dense_one_with_a_note(
        self, take: Callable[[Tensor, bool], Tensor]
    ) -> None:
        def step(sparse: bool) -> CapturedStep:
            return captured(lambda model, batch: plain(model, batch) + take(model.weight, sparse).square().sum())

        sparse, dense = step(True), step(False)
        assert sparse.program.digest == dense.program.digest != PLAIN.program.digest
        assert ["taken as a dense one (" in note for note in sparse.notes] == [True]
        assert dense.notes == ()

    @pytest.mark.parametrize(
        "mix",
        [
            lambda x: x.to_sparse().to_dense(),
            lambda x: torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), x[:2, 0], (4, 4)).to_dense() @ x,
        ],
        ids=["to_sparse", "made"],
    )
    def test_others_are_refused_in_one_sentence(self, mix: Callable[[Tensor], Tensor]) -> None:
        with pytest.raises(ProgramError, match="makes a sparse tensor of values of the step") as refused:
            captured(mixing(mix))
        assert len(refused.value.sentence) < 300

    def test_a_sparse_buffer_is_refused_by_its_name(self) -> None:
        model = network()
        model.register_buffer("adjacency", ADJACENCY.to_sparse())
        with pytest.raises(DataError, match="The buffer 'adjacency' of the model is sparse"):
            captured(model=model)


def weighed(table: Callable[[Tensor], Tensor]) -> Step:
    """The loss of each row, weighed by a number of a table; what OpenAI's diffusion code does at each step."""

    def step(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        each = functional.cross_entropy(model(batch["x"]), batch["y"], reduction="none")
        return (each * table(batch["y"]).reshape(4)).mean()

    return step


class TestDoubles:
    @pytest.mark.parametrize(
        "table",
        [
            lambda t: torch.from_numpy(TABLE).to(device=t.device)[t].float(),
            lambda t: torch.from_numpy(TABLE)[t].float()[..., None].expand(4, 1),
            lambda t: torch.tensor(TABLE).index_select(0, t).to(torch.float32),
            lambda t: torch.from_numpy(TABLE)[1:].gather(0, t).float(),
        ],
        ids=["diffusion", "expanded", "index_select", "gather"],
    )
    def test_a_table_that_is_only_taken_from_and_cast_is_cast_first(self, table: Callable[[Tensor], Tensor]) -> None:
        step = captured(weighed(table))
        held = [tensor for name, tensor in step.initial_state.items() if name.startswith("constant")]
        assert [tensor.dtype for tensor in held] == [torch.float32]
        assert torch.equal(held[0], torch.from_numpy(TABLE).float())

    def test_the_bits_are_those_of_the_cast_afterwards(self) -> None:
        taken = torch.tensor([0, 1, 1, 0])
        step = captured(weighed(lambda t: torch.from_numpy(TABLE)[t].float()))
        expected = captured(weighed(lambda t: torch.from_numpy(TABLE.astype(np.float32))[t]))
        assert loss_of(step) == loss_of(expected)
        assert torch.equal(torch.from_numpy(TABLE)[taken].float(), torch.from_numpy(TABLE).float()[taken])

    @pytest.mark.parametrize(
        "table",
        [lambda t: (torch.from_numpy(TABLE)[t] * 3).float(), lambda t: torch.from_numpy(TABLE)[t]],
        ids=["computed with", "not cast"],
    )
    def test_whatever_computes_in_float64_is_refused(self, table: Callable[[Tensor], Tensor]) -> None:
        with pytest.raises(CounterfoilError, match=r"torch\.float64 appears") as refused:
            captured(weighed(table))
        assert f"{Path(__file__)}, line " in refused.value.sentence
        assert ".float()" in refused.value.remedy


@pytest.mark.parametrize(
    "draw",
    [
        lambda: Beta(0.4, 0.4).sample(),
        lambda: Dirichlet(torch.ones(2)).sample()[0],
        lambda: Gamma(torch.ones(()), torch.ones(())).sample(),
    ],
    ids=["Beta", "Dirichlet", "Gamma"],
)
def test_draws_that_try_again_are_refused_with_what_to_do(draw: Callable[[], Tensor], request: Any) -> None:
    with pytest.raises(ProgramError, match=request.node.callspec.id) as refused:
        captured(lambda model, batch: plain(model, batch) * draw())
    assert "keep='batches'" in refused.value.remedy
