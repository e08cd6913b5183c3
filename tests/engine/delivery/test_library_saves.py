"""What public libraries save of a model: PEFT's merge, and the folder of a Hugging Face model with tied weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from counterfoil.audit.values.delivery import DeliveryOutcome
from counterfoil_core.bundle.reader import BundleReader
from support.delivered import compared, delivered
from support.jobs import classify, draw, own_order, record_job

pytestmark = pytest.mark.slow


def _state(run):
    with BundleReader.open(run) as reader:
        return {name: torch.from_numpy(array) for name, array in reader.checkpoint(reader.manifest.steps).items()}


class Net(nn.Module):
    def __init__(self, conv1d=None):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.second = nn.Linear(8, 8) if conv1d is None else conv1d(8, 8)
        self.last = nn.Linear(8, 3)

    def forward(self, x):
        return self.last(functional.silu(self.second(functional.silu(self.first(x)))))


@pytest.mark.parametrize("layers", ["Linear", "Conv1D"])
def test_a_merge_by_peft(tmp_path, trainer_key, layers):
    peft = pytest.importorskip("peft")
    conv1d = None if layers == "Linear" else pytest.importorskip("transformers.pytorch_utils").Conv1D
    config = peft.LoraConfig(r=2, lora_alpha=5, target_modules=["first", "second"], fan_in_fan_out=False)

    def adapted():
        model = peft.get_peft_model(Net(conv1d), config)
        with torch.no_grad():
            for number, (name, parameter) in enumerate(model.named_parameters()):
                if "lora_B" in name:
                    parameter.copy_(torch.from_numpy(draw(tuple(parameter.shape), number)))
        return model

    data = {"x": draw((32, 6), 1), "labels": (abs(draw((32,), 2)) * 3).astype("int64")}
    job = record_job(tmp_path, own_order(adapted(), classify, data), trainer_key)
    trained = adapted()
    trained.load_state_dict(_state(job.run), strict=False)
    names = {name for name, _ in trained.named_parameters()}
    assert names <= _state(job.run).keys()
    trained.save_pretrained(tmp_path / "adapter")
    alone = compared(tmp_path / "adapter", job.run)
    assert (alone.outcome, alone.relations, alone.missing) == (DeliveryOutcome.DELIVERED, {"bit for bit": 4}, ())
    merged = trained.merge_and_unload()
    for number, dtype in enumerate((torch.float32, torch.bfloat16)):
        folder = delivered(tmp_path / f"merged{number}", {n: t.to(dtype) for n, t in merged.state_dict().items()})
        report = compared(folder, job.run)
        assert report.outcome is DeliveryOutcome.DELIVERED, report
        assert sum(count for relation, count in report.relations.items() if "merged" in relation) == 2
        assert report.largest_merge is not None
    with torch.no_grad():
        merged.second.weight.copy_(merged.second.weight.T.clone())
    assert compared(delivered(tmp_path / "turned", merged.state_dict()), job.run).outcome is DeliveryOutcome.DIFFERENT


def test_a_hugging_face_folder(tmp_path, trainer_key):
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=17, hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=16, tie_word_embeddings=True, use_cache=False,
    )  # fmt: skip

    class Job(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = transformers.LlamaForCausalLM(config)

        def forward(self, tokens):
            return self.model(input_ids=tokens, use_cache=False).logits

    def loss(model, batch):
        tokens = batch["tokens"].to(torch.int64)
        return functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())

    data = {"tokens": (abs(draw((12, 9), 3)) * 17).astype("int32")}
    job = record_job(tmp_path, own_order(Job(), loss, data, steps=2, batch_size=2), trainer_key)
    state = _state(job.run)
    trained = Job()
    missing, unexpected = trained.load_state_dict(state, strict=False)
    assert missing == ["model.lm_head.weight"]
    assert all("momentum" in name or "inv_freq" in name or "constant" in name for name in unexpected)
    for number, dtype in enumerate((torch.float32, torch.bfloat16)):
        folder = tmp_path / f"saved{number}"
        trained.to(dtype).model.save_pretrained(folder, max_shard_size="4KB")
        report = compared(folder, job.run, prefix="model.")
        assert report.outcome is DeliveryOutcome.DELIVERED, report
        assert len(report.files) > 1
    assert compared(folder, job.run).outcome is DeliveryOutcome.DIFFERENT  # under the names of another module
