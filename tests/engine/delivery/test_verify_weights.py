"""Delivered weights and the run that they should come from."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_model
from torch import nn
from torch.nn import functional

from counterfoil.audit.values.delivery import DeliveryOutcome, Relation
from counterfoil.base.joberrors import TargetExistsError, WeightsError
from counterfoil.delivery.adapters import Adapter, merged_weight
from counterfoil.delivery.comparison import cast, compare_merge
from counterfoil.delivery.export import export_weights
from counterfoil.delivery.tensorfile import StoredTensor
from counterfoil.delivery.weights import DeliveredWeights
from counterfoil.program.update import Sgd, WeightAverage
from counterfoil_core.base.errors import DataError, GivenFileError
from counterfoil_core.bundle.reader import BundleReader
from support.delivered import basis_for, compared, delivered, exported
from support.jobs import Job, draw, own_order, record_job


class Tied(nn.Module):
    """An embedding that is the output as well, a mask that is no file's, and an adapter on a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.base = nn.Linear(8, 8, bias=False)
        self.base.weight.requires_grad_(False)
        self.base.lora_A = nn.Parameter(torch.zeros(3, 8))
        self.base.lora_B = nn.Parameter(torch.zeros(8, 3))
        self.output = nn.Linear(8, 11, bias=False)
        self.output.weight = self.embedding.weight
        self.register_buffer("shift", torch.arange(8, dtype=torch.float32), persistent=False)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        x = self.embedding(tokens) + self.shift
        adapted = functional.linear(functional.linear(x, self.base.lora_A), self.base.lora_B) * 0.75
        return self.output(functional.silu(self.base(x) + adapted))


def _model() -> Tied:
    model = Tied()
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.from_numpy(draw(tuple(parameter.shape), number)))
    return model


def _loss(model: nn.Module, batch) -> torch.Tensor:
    tokens = batch["tokens"].to(torch.int64)
    return functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


@pytest.fixture(scope="module")
def tied_job(tmp_path_factory, trainer_key) -> Job:
    tokens = (torch.from_numpy(draw((40, 6), 90)).abs() * 11).to(torch.int32).numpy()
    draft = own_order(
        _model(), _loss, {"tokens": tokens}, rule=WeightAverage(Sgd(momentum=0.9), 0.5), batch_size=4, steps=3
    )
    return record_job(tmp_path_factory.mktemp("tied"), draft, trainer_key)


def test_an_export_is_the_clients_module(tied_job, tmp_path):
    tensors = exported(tied_job.run, tmp_path)
    assert sorted(tensors) == ["base.lora_A", "base.lora_B", "base.weight", "embedding.weight", "steps"]
    assert tensors["steps"].dtype == torch.int64
    assert int(tensors["steps"]) == 3
    model = Tied()
    assert load_model(model, tmp_path / "model.safetensors") == (set(), [])  # strict
    assert torch.equal(model.output.weight, tensors["embedding.weight"])
    with safe_open(tmp_path / "model.safetensors", "pt") as file:
        metadata = file.metadata()
    basis = basis_for(tied_job.run)
    assert metadata["counterfoil.run_root"] == basis.run_root.hex
    assert metadata["counterfoil.order"] == basis.order_digest.hex
    assert metadata["counterfoil.step"] == "3"
    assert metadata["output.weight"] == "embedding.weight", "as safetensors.torch.save_model names what is tied"
    report = compared(tmp_path, tied_job.run)
    assert (report.outcome, report.relations) == (DeliveryOutcome.DELIVERED, {"bit for bit": 5})


def test_an_export_of_another_step_and_of_the_average(tied_job, tmp_path):
    last = exported(tied_job.run, tmp_path / "last")
    early = exported(tied_job.run, tmp_path / "early", step=2)
    average = exported(tied_job.run, tmp_path / "average", average=True)
    with BundleReader.open(tied_job.run) as reader:
        assert torch.equal(early["base.lora_A"], torch.from_numpy(reader.checkpoint(2)["base.lora_A"]))
        assert torch.equal(average["base.lora_A"], torch.from_numpy(reader.checkpoint(3)["average:base.lora_A"]))
    assert torch.equal(last["base.weight"], average["base.weight"])  # frozen: it has no average
    assert compared(tmp_path / "early", tied_job.run).outcome is DeliveryOutcome.DIFFERENT
    assert compared(tmp_path / "average", tied_job.run).outcome is DeliveryOutcome.DIFFERENT
    assert compared(tmp_path / "average", tied_job.run, average=True).outcome is DeliveryOutcome.DELIVERED
    with pytest.raises(DataError, match="no state of step 1"):
        exported(tied_job.run, tmp_path / "none", step=1)
    with pytest.raises(TargetExistsError):
        next(export_weights(tied_job.run, tmp_path / "last"))  # before anything is hashed
    with pytest.raises(TargetExistsError):
        exported(tied_job.run, tmp_path / "last")
    exported(tied_job.run, tmp_path / "last", replace=True)


def test_casts_shards_and_a_second_name(tied_job, tmp_path):
    tensors = exported(tied_job.run, tmp_path / "exported")
    half = {
        name: tensor.to(torch.bfloat16) if tensor.is_floating_point() else tensor for name, tensor in tensors.items()
    }
    first = {name: half[name] for name in ("base.lora_A", "base.lora_B", "steps")}
    # save_model writes the alphabetically first name of tied tensors, which need not be the state's.
    second = {"base.weight": tensors["base.weight"].to(torch.float16), "output.weight": half["embedding.weight"]}
    folder = delivered(tmp_path / "half", first, "model-00001-of-00002.safetensors")
    delivered(folder, second, "model-00002-of-00002.safetensors")
    weight_map = dict.fromkeys(first, "model-00001-of-00002.safetensors")
    weight_map |= dict.fromkeys(second, "model-00002-of-00002.safetensors")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    report = compared(folder, tied_job.run)
    assert report.outcome is DeliveryOutcome.DELIVERED
    assert report.relations == {"bit for bit": 1, "cast to bfloat16": 3, "cast to float16": 1}
    assert report.tied == ("output.weight",)
    assert [file.name for file in report.files] == sorted(set(weight_map.values()))
    delivered(tmp_path / "both", {**tensors, "output.weight": tensors["embedding.weight"] + 1})
    both = compared(tmp_path / "both", tied_job.run)
    assert [one.name for one in both.differing] == ["output.weight"]
    index.write_text(json.dumps({"weight_map": weight_map | {"steps": "model-00002-of-00002.safetensors"}}))
    with pytest.raises(WeightsError, match="not about these files"):
        compared(folder, tied_job.run)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_merge_of_the_adapter(tied_job, tmp_path, dtype):
    tensors = exported(tied_job.run, tmp_path / "exported")
    delta = 0.75 * (tensors["base.lora_B"] @ tensors["base.lora_A"])
    merged = {
        "base.weight": (tensors["base.weight"] + delta).to(dtype),
        "embedding.weight": tensors["embedding.weight"],
        "steps": tensors["steps"],
    }
    report = compared(delivered(tmp_path / "merged", merged), tied_job.run)
    assert report.outcome is DeliveryOutcome.DELIVERED
    assert sum(count for relation, count in report.relations.items() if relation.startswith("merged")) == 1
    assert report.largest_merge is not None
    wrong = {
        "another factor": tensors["base.weight"] + delta * 1.01,
        "turned": tensors["base.weight"] + delta.T,
        "not merged": tensors["base.weight"],
        "one element": (tensors["base.weight"] + delta).index_put(
            (torch.tensor(1), torch.tensor(2)), torch.tensor(0.05), True
        ),
    }
    for number, (what, weight) in enumerate(wrong.items()):
        folder = delivered(tmp_path / f"wrong{number}", merged | {"base.weight": weight.to(dtype)})
        assert compared(folder, tied_job.run).outcome is DeliveryOutcome.DIFFERENT, what


def test_an_adapter_by_itself(tied_job, tmp_path):
    tensors = exported(tied_job.run, tmp_path / "exported")
    trained = {name: tensor for name, tensor in tensors.items() if name != "base.weight"}
    report = compared(delivered(tmp_path / "adapter", trained), tied_job.run)
    assert report.outcome is DeliveryOutcome.DELIVERED
    assert "as they were ordered, tensors: 1." in report.warnings[0]
    # What training changes must be there, and what is there must be right.
    few = {name: tensor for name, tensor in trained.items() if name != "embedding.weight"}
    assert compared(delivered(tmp_path / "few", few), tied_job.run).missing == ("embedding.weight",)
    other = compared(delivered(tmp_path / "other", tensors | {"base.weight": tensors["base.weight"] + 1}), tied_job.run)
    assert [one.name for one in other.differing] == ["base.weight"]
    none = {name: tensor for name, tensor in tensors.items() if ".lora_" not in name}
    assert compared(delivered(tmp_path / "none", none), tied_job.run).outcome is DeliveryOutcome.DIFFERENT


def test_the_bound_of_a_merge_holds_for_every_order_and_hardly_more():
    weight, a, b = (
        torch.from_numpy(draw(shape, number)) for number, shape in enumerate([(64, 48), (16, 48), (64, 16)])
    )
    adapter = Adapter("w", "a", "b", 1 / 3, (False, False, False))
    exact, bound = merged_weight(weight.numpy(), a.numpy(), b.numpy(), adapter)
    orders = [
        torch.arange(16),
        torch.arange(15, -1, -1),
        torch.randperm(16, generator=torch.Generator().manual_seed(1)),
    ]
    for order in orders:
        total = torch.zeros(64, 48)
        for k in order:
            total = total + b[:, k, None] * a[k]
        for merged in (weight + total * (1 / 3), weight + (b[:, order] @ a[order]) * (1 / 3)):
            stored = StoredTensor("w", "F32", (64, 48), 0)
            found, widest = compare_merge(stored, merged.numpy(), "w", exact, bound)
            assert (found.differing, found.relation) == (0, Relation.MERGED)
            assert found.largest <= widest < 1e-5
    shifted = merged + 2e-5
    assert compare_merge(stored, shifted.numpy(), "w", exact, bound)[0].differing == 64 * 48


@pytest.mark.parametrize(
    ("weight", "down", "up"),
    [
        ((4, 5), (2, 6), (4, 2)),
        ((4, 5), (2, 5), (3, 2)),
        ((4, 5), (2, 5), (4, 3)),
        ((4, 5, 1), (2, 5), (4, 2)),
        ((5,), (2, 5), (4, 2)),
        ((4, 5), (2, 5, 1), (4, 2)),
        ((4, 5), (2, 5), (4, 2, 1)),
    ],
)
def test_an_adapter_whose_shapes_do_not_fit_is_not_merged(weight, down, up):
    adapter = Adapter("w", "a", "b", 0.5, (False, False, False))
    with pytest.raises(WeightsError, match="shapes that do not fit"):
        merged_weight(*(np.ones(shape, np.float32) for shape in (weight, down, up)), adapter)


def test_casts_are_those_of_the_library():
    numbers = torch.cat(
        [
            torch.from_numpy(draw((20_000,), 1)) * torch.from_numpy(draw((20_000,), 2)).mul(60).exp(),
            torch.tensor(
                [0.0, -0.0, 1e-45, 6e-8, 2.98e-8, 65519.9, 65520.0, 3.4e38, float("inf"), 1 + 2**-8, 1 + 3 * 2**-8]
            ),
        ]
    )
    for name, dtype in (("BF16", torch.bfloat16), ("F16", torch.float16)):
        wanted = numbers.to(dtype).to(torch.float32)
        assert torch.equal(torch.from_numpy(cast(numbers.numpy(), name)).view(torch.int32), wanted.view(torch.int32))


def test_without_a_basis_nothing_is_concluded(tied_job, tmp_path: Path):
    from counterfoil.delivery.verification import verify_weights

    exported(tied_job.run, tmp_path)
    *_, report = verify_weights(tmp_path, tied_job.run, None)
    assert report.outcome is DeliveryOutcome.INCONCLUSIVE


def test_a_folder_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refused(path: Path) -> list[str]:
        raise PermissionError(13, "Permission denied", str(path))

    with ExitStack() as stack, monkeypatch.context() as patch:
        patch.setattr("os.listdir", refused)
        with pytest.raises(GivenFileError, match="cannot be read"):
            DeliveredWeights(tmp_path, stack)


def test_the_average_of_an_adapter_by_itself(tied_job, tmp_path):
    # The average of an adapter by itself: what else training changed must be there as well.
    averages = exported(tied_job.run, tmp_path / "average", average=True)
    adapter = {name: tensor for name, tensor in averages.items() if ".lora_" in name}
    few = compared(delivered(tmp_path / "few", adapter), tied_job.run, average=True)
    assert (few.outcome, few.missing) == (DeliveryOutcome.DIFFERENT, ("embedding.weight", "steps"))
    all_changed = {name: tensor for name, tensor in averages.items() if name != "base.weight"}
    report = compared(delivered(tmp_path / "all", all_changed), tied_job.run, average=True)
    assert report.outcome is DeliveryOutcome.DELIVERED
    assert report.sentence.startswith("What was delivered is all that training changed")
