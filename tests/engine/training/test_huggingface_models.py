"""``order hf`` on tiny models of many architectures, with random weights: ordered, recorded and audited."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterfoil.cli import main
from counterfoil.signing.privatekeys import generate_key
from counterfoil.training.huggingface import FineTuning, Lora, order_huggingface
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import Outcome
from support import small_models
from support.bundles import test_key
from support.jobs import audited, record_job

transformers = pytest.importorskip("transformers", reason="the library transformers is not installed")
pytestmark = pytest.mark.slow

SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "max_position_embeddings": 64,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 2,
}
GROUPED = {**SIZES, "num_key_value_heads": 1}
GPT2 = {"n_embd": 16, "n_layer": 1, "n_head": 2}
OPT = {"hidden_size": 16, "ffn_dim": 24, "num_hidden_layers": 1, "num_attention_heads": 2, "word_embed_proj_dim": 16}
DISTILBERT = {"dim": 16, "hidden_dim": 24, "n_layers": 1, "n_heads": 2, "max_position_embeddings": 64}
MODERN = {**SIZES, "cls_token_id": 3, "sep_token_id": 4, "global_attn_every_n_layers": 1}
CAUSAL = {
    "Mistral": GROUPED,
    "Qwen2": GROUPED,
    "Qwen3": {**GROUPED, "head_dim": 8},
    "Gemma2": {**GROUPED, "head_dim": 8},
    "Mixtral": {**GROUPED, "num_local_experts": 2},
    "GPTNeoX": SIZES,
    "Phi": SIZES,
    "OPT": {**OPT, "max_position_embeddings": 64, "pad_token_id": 2},
    "Bloom": {"hidden_size": 16, "n_layer": 1, "n_head": 2},
}
CLASSIFIERS = {
    "Roberta": SIZES,
    "DistilBert": DISTILBERT,
    "Electra": {**SIZES, "embedding_size": 16},
    "DebertaV2": SIZES,
    "ModernBert": MODERN,
    "GPT2": {**GPT2, "n_positions": 64, "pad_token_id": 2},
    "Llama": GROUPED,
}
ADAPTED = ("Qwen2", "Roberta", "Llama")
EXPERTS = {**GROUPED, "head_dim": 8, "num_experts_per_tok": 2}
LATENT = {
    **SIZES, "q_lora_rank": 8, "kv_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
    "n_routed_experts": 4, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 8,
    "num_key_value_heads": 2, "first_k_dense_replace": 1, "num_hidden_layers": 2,
}  # fmt: skip
ATTENTION = {"q_proj", "k_proj", "v_proj", "o_proj"}
PLACES: dict[str, tuple[str, dict[str, Any], set[str]]] = {
    "Phi3": ("ForCausalLM", GROUPED, {"qkv_proj", "o_proj", "gate_up_proj", "down_proj"}),
    "Mixtral": ("ForCausalLM", CAUSAL["Mixtral"], {"q_proj", "v_proj"}),
    "Qwen3Moe": ("ForCausalLM", {**EXPERTS, "num_experts": 4, "moe_intermediate_size": 8}, ATTENTION),
    "GptOss": ("ForCausalLM", {**EXPERTS, "num_local_experts": 4}, ATTENTION),
    "DeepseekV3": (
        "ForCausalLM",
        LATENT,
        {"q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"},
    ),
    "Mamba": ("ForCausalLM", {"hidden_size": 16, "num_hidden_layers": 1, "state_size": 4}, {"in_proj", "x_proj"}),
    "ModernBert": ("ForSequenceClassification", MODERN, {"Wqkv", "Wo", "Wi"}),
}
"""Where adapters lie if nobody says where, in models for which peft names no place, or loses it."""


def folder_of(folder: Path, name: str, head: str, **sizes: Any) -> Path:
    """A model of one layer and its tokenizer."""
    names = {"bos": "<s>", "eos": "</s>", "pad": "<pad>", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    words = small_models.tokenizer(**{f"{name}_token": text for name, text in names.items()})
    torch.manual_seed(4)
    config = getattr(transformers, f"{name}Config")(vocab_size=len(words), **sizes)
    getattr(transformers, f"{name}{head}")(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def rows(path: Path, listed: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in listed), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", [*CAUSAL, *CLASSIFIERS])
def test_it_is_ordered_recorded_and_audited(name: str, tmp_path: Path) -> None:
    if name in CAUSAL:
        model = folder_of(tmp_path / "model", name, "ForCausalLM", **CAUSAL[name])
        listed: list[dict[str, Any]] = [{"prompt": t[:8], "completion": t[8:]} for t in small_models.SENTENCES]
    else:
        model = folder_of(tmp_path / "model", name, "ForSequenceClassification", num_labels=3, **CLASSIFIERS[name])
        listed = [{"text": text, "label": row % 3} for row, text in enumerate(small_models.SENTENCES)]
    settings = FineTuning(steps=2, batch_size=2, checkpoint_every=2)
    for lora in (None, Lora(2)) if name in ADAPTED else (None,):
        if lora is not None:
            pytest.importorskip("peft", reason="the library peft is not installed")
        draft = order_huggingface(model, rows(tmp_path / "train.jsonl", listed), replace(settings, lora=lora))
        folder = tmp_path / ("whole" if lora is None else "adapters")
        folder.mkdir()
        job = record_job(folder, draft, test_key(tmp_path))
        report = audited(job.run, job.order, perturbation="reversed").report
        assert report.outcome is Outcome.VERIFIED, report.reason


@pytest.mark.parametrize("name", PLACES)
def test_adapters_find_a_place_of_their_own(name: str, tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="the library peft is not installed")
    head, sizes, places = PLACES[name]
    classes = {"num_labels": 3} if head == "ForSequenceClassification" else {}
    model = folder_of(tmp_path / "model", name, head, **sizes, **classes)
    listed = [{"text": text, **({"label": 2} if classes else {})} for text in small_models.SENTENCES]
    data = rows(tmp_path / "train.jsonl", listed)
    found, still = adapters_after(model, data, Lora(2), tmp_path)
    assert (found, still) == (places, set())


def test_an_adapter_that_nothing_calls_would_be_noticed(tmp_path: Path) -> None:
    """The control of the test above: of Mamba's steps of time the weight is read, and no adapter is called."""
    pytest.importorskip("peft", reason="the library peft is not installed")
    model = folder_of(tmp_path / "model", "Mamba", "ForCausalLM", **PLACES["Mamba"][1])
    data = rows(tmp_path / "train.jsonl", [{"text": text} for text in small_models.SENTENCES])
    named = Lora(2, modules=("in_proj", "dt_proj"))
    assert adapters_after(model, data, named, tmp_path) == ({"in_proj", "dt_proj"}, {"dt_proj"})


def adapters_after(model: Path, data: Path, lora: Lora, folder: Path) -> tuple[set[str], set[str]]:
    """Record and audit a run; the modules that have an adapter, and those whose adapter is as it was."""
    settings = FineTuning(steps=2, batch_size=2, checkpoint_every=2, lora=lora)
    draft = order_huggingface(model, data, settings)
    job = record_job(folder, draft, test_key(folder))
    report = audited(job.run, job.order, perturbation="reversed").report
    assert report.outcome is Outcome.VERIFIED, report.reason
    with BundleReader.open(job.run) as reader:
        after = reader.checkpoint(2)
    up = {
        name: name.split(".lora_B.")[0].split(".")[-1]
        for name in draft.initial
        if ".lora_B." in name and ":" not in name
    }
    still = {place for name, place in up.items() if np.array_equal(draft.initial[name], after[name])}
    return set(up.values()), still


def test_adapters_are_delivered_merged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run's adapters, merged into the model by peft, are the run's weights; with another scale they are not."""
    peft = pytest.importorskip("peft", reason="the library peft is not installed")
    from safetensors.torch import load_file

    model = folder_of(tmp_path / "model", "Qwen2", "ForCausalLM", **GROUPED)
    data = rows(tmp_path / "train.jsonl", [{"text": text} for text in small_models.SENTENCES])
    order, run, verdict = (str(tmp_path / name) for name in ("job.cfoil", "run.cfoil", "verdict.json"))
    test_key(tmp_path)
    generate_key(tmp_path / "auditor.pem", None)
    key, auditor, public = (str(tmp_path / name) for name in ("trainer.pem", "auditor.pem", "auditor.pub.pem"))
    command = ["order", "hf", str(model), "--data", str(data), "--lora", "r=2,alpha=3", "--lr", "0.05", "--out", order]
    assert main([*command, "--steps", "3", "--batch-size", "2"]) == 0
    assert main(["train", order, "--out", run, "--key", key]) == 0
    assert main(["audit", run, "--order", order, "--verdict", verdict, "--key", auditor]) == 0
    assert main(["export", run, "--safetensors", str(tmp_path / "delivered")]) == 0
    state = load_file(tmp_path / "delivered" / "model.safetensors")
    check = [run, "--verdict", verdict, "--key", public]
    assert main(["verify-weights", str(tmp_path / "delivered"), *check]) == 0
    for alpha, code in ((3, 0), (4, 1)):
        base = transformers.AutoModelForCausalLM.from_pretrained(model)
        settings = peft.LoraConfig(task_type="CAUSAL_LM", r=2, lora_alpha=alpha)
        adapted = peft.get_peft_model(base, settings)
        missing = adapted.load_state_dict(state, strict=False).missing_keys
        assert not [name for name in missing if "lora" in name]
        adapted.merge_and_unload().save_pretrained(tmp_path / f"merged-{alpha}")
        capsys.readouterr()
        assert main(["verify-weights", str(tmp_path / f"merged-{alpha}"), *check]) == code, capsys.readouterr().out
