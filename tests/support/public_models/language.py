"""Language models and others of Hugging Face's transformers, and peft on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from support.public_models.entry import KINDS, Array, Entry, Made, classes, normal, tokens

_VOCABULARY, _LENGTH, _ROWS = 97, 10, 4
_SMALL = {
    "vocab_size": _VOCABULARY,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 32,
}
_SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def _loss(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """The model's own loss."""
    return model(**batch).loss


def _causal_model(configuration: str, **sizes: Any) -> nn.Module:
    import transformers

    made: nn.Module = transformers.AutoModelForCausalLM.from_config(getattr(transformers, configuration)(**sizes))
    return made.train()


def _causal(configuration: str, **sizes: Any) -> Callable[[], Made]:
    def make() -> Made:
        rows = tokens(_ROWS, _LENGTH, _VOCABULARY)
        data = {"input_ids": rows, "attention_mask": np.ones_like(rows), "labels": rows}
        return Made(_causal_model(configuration, **sizes), _loss, data)

    return make


def _of(model: str, configuration: str, data: Callable[[], Mapping[str, Array]], **settings: Any) -> Callable[[], Made]:
    def make() -> Made:
        import transformers

        chosen = getattr(transformers, configuration)(**settings)
        return Made(getattr(transformers, model)(chosen).train(), _loss, data())

    return make


def _masked() -> Mapping[str, Array]:
    rows = tokens(_ROWS, _LENGTH, _VOCABULARY)
    mask = np.ones_like(rows)
    mask[1, 7:] = 0
    return {"input_ids": rows, "attention_mask": mask, "labels": np.where(rows % 3 == 0, rows, -100)}


def _sentences() -> Mapping[str, Array]:
    return {**{k: v for k, v in _masked().items() if k != "labels"}, "labels": classes(_ROWS, 2)}


def _pairs() -> Mapping[str, Array]:
    rows = tokens(_ROWS, _LENGTH, _VOCABULARY)
    return {"input_ids": rows, "attention_mask": np.ones_like(rows), "labels": rows[:, ::-1].copy()}


def _images(side: int, labels: int | None = 5) -> Callable[[], Mapping[str, Array]]:
    def make() -> Mapping[str, Array]:
        data: dict[str, Array] = {"pixel_values": normal(_ROWS, 3, side, side)}
        if labels:
            data["labels"] = classes(_ROWS, labels)
        return data

    return make


def _segments() -> Mapping[str, Array]:
    labels = np.random.default_rng(1).integers(0, 3, (2, 64, 64))
    return {"pixel_values": normal(2, 3, 64, 64), "labels": labels}


def _clip() -> Made:
    import transformers

    text = {**_SMALL, **_SPECIAL}
    vision = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    configuration = transformers.CLIPConfig(
        text_config=text, vision_config={**vision, "image_size": 16, "patch_size": 8}, projection_dim=8
    )
    rows = tokens(_ROWS, _LENGTH, _VOCABULARY)
    rows[:, -1] = 2
    data = {"input_ids": rows, "pixel_values": normal(_ROWS, 3, 16, 16)}
    model = transformers.CLIPModel(configuration).train()
    return Made(model, lambda model, batch: model(**batch, return_loss=True).loss, data)


def _whisper() -> Mapping[str, Array]:
    return {"input_features": normal(2, 8, 40), "labels": tokens(2, 6, _VOCABULARY)}


def _waves() -> Mapping[str, Array]:
    return {"input_values": normal(2, 800), "labels": tokens(2, 4, 20)}


def _detr() -> Made:
    import transformers

    backbone = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], out_features=["stage2"], layer_type="basic"
    )
    configuration = transformers.DetrConfig(
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone, d_model=16,
        encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
        decoder_ffn_dim=32, num_queries=5, num_labels=4,
    )  # fmt: skip

    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        found = model(pixel_values=batch["pixel_values"])
        # Queries matched to objects in order: the assignment by scipy is no tensor computation.
        labels, boxes = batch["classes"], batch["boxes"]
        named = functional.cross_entropy(found.logits.flatten(0, 1), labels.flatten())
        return named + functional.l1_loss(found.pred_boxes, boxes)

    data = {
        "pixel_values": normal(2, 3, 32, 32),
        "classes": np.random.default_rng(0).integers(0, 5, (2, 5)),
        "boxes": np.random.default_rng(0).random((2, 5, 4)).astype(np.float32),
    }
    return Made(transformers.DetrForObjectDetection(configuration).train(), objective, data)


def _lora() -> Made:
    import peft

    base = _causal_model("LlamaConfig", **_SMALL, **_SPECIAL)
    model = peft.get_peft_model(base, peft.LoraConfig(task_type="CAUSAL_LM", r=4))
    rows = tokens(_ROWS, _LENGTH, _VOCABULARY)
    return Made(model.train(), _loss, {"input_ids": rows, "labels": rows})


def _log_likelihood(model: nn.Module, rows: Tensor) -> Tensor:
    logits = model(input_ids=rows).logits[:, :-1].log_softmax(-1)
    return logits.gather(-1, rows[:, 1:, None])[..., 0].sum(-1)


class _Preference(nn.Module):
    """A policy and the frozen reference that direct preference optimization compares it with."""

    def __init__(self, policy: nn.Module, reference: nn.Module) -> None:
        super().__init__()
        self.policy = policy
        self.reference = reference.requires_grad_(False)


def _dpo() -> Made:
    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        chosen, rejected = batch["chosen"], batch["rejected"]
        ratio = _log_likelihood(model.policy, chosen) - _log_likelihood(model.policy, rejected)
        with torch.no_grad():
            other = _log_likelihood(model.reference, chosen) - _log_likelihood(model.reference, rejected)
        return -functional.logsigmoid(0.1 * (ratio - other)).mean()

    sizes = {**_SMALL, **_SPECIAL, "num_key_value_heads": 1}
    model = _Preference(_causal_model("Qwen2Config", **sizes), _causal_model("Qwen2Config", **sizes))
    data = {
        "chosen": tokens(_ROWS, _LENGTH, _VOCABULARY),
        "rejected": tokens(_ROWS, _LENGTH, _VOCABULARY, seed=1),
    }
    return Made(model.train(), objective, data)


_GROUPED = {**_SMALL, **_SPECIAL, "num_key_value_heads": 1}
_PLAIN = {**_SMALL, **_SPECIAL}
_GPT2 = {"vocab_size": _VOCABULARY, "n_positions": 32, "n_embd": 16, "n_layer": 2, "n_head": 2, **_SPECIAL}
_DECODER = {
    "vocab_size": _VOCABULARY, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 32,
}  # fmt: skip
_VISION = {
    "image_size": 16, "patch_size": 4, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_labels": 5,
}  # fmt: skip
_WAV2VEC2 = {
    "vocab_size": 20, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
    "conv_dim": (8, 8), "conv_kernel": (10, 3), "conv_stride": (5, 2), "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2, "mask_time_length": 2,
}  # fmt: skip

_T = "transformers"
LANGUAGE = (
    Entry("Llama", _T, _causal("LlamaConfig", **_GROUPED)),
    Entry("Qwen2", _T, _causal("Qwen2Config", **_GROUPED)),
    Entry("Qwen3", _T, _causal("Qwen3Config", **_GROUPED, head_dim=8)),
    Entry("Mistral", _T, _causal("MistralConfig", **_GROUPED)),
    Entry("Gemma", _T, _causal("GemmaConfig", **_GROUPED, head_dim=8)),
    Entry("Gemma 2", _T, _causal("Gemma2Config", **_GROUPED, head_dim=8)),
    Entry("Phi", _T, _causal("PhiConfig", **_PLAIN)),
    Entry("Phi-3", _T, _causal("Phi3Config", **_GROUPED)),
    Entry("GPT-2", _T, _causal("GPT2Config", **_GPT2)),
    Entry("GPT-NeoX", _T, _causal("GPTNeoXConfig", **_PLAIN)),
    Entry("OPT", _T, _causal("OPTConfig", **_PLAIN, ffn_dim=32, word_embed_proj_dim=16)),
    Entry("Falcon", _T, _causal("FalconConfig", **_PLAIN)),
    Entry("BLOOM", _T, _causal("BloomConfig", vocab_size=_VOCABULARY, hidden_size=16, n_layer=2, n_head=2, **_SPECIAL)),
    Entry("Mixtral", _T, _causal("MixtralConfig", **_GROUPED, num_local_experts=4)),
    Entry("T5", _T, _of("T5ForConditionalGeneration", "T5Config", _pairs, vocab_size=_VOCABULARY, d_model=16, d_kv=8,
        d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0)),
    Entry("BART", _T, _of("BartForConditionalGeneration", "BartConfig", _pairs, **_DECODER, **_SPECIAL)),
    Entry("BERT", _T, _of("BertForMaskedLM", "BertConfig", _masked, **_PLAIN)),
    Entry("RoBERTa", _T, _of("RobertaForSequenceClassification", "RobertaConfig", _sentences, **_PLAIN)),
    Entry("DeBERTa-v2", _T, _of("DebertaV2ForSequenceClassification", "DebertaV2Config", _sentences, **_PLAIN)),
    Entry("ELECTRA", _T, _of("ElectraForSequenceClassification", "ElectraConfig", _sentences, **_PLAIN,
        embedding_size=16)),
    Entry("ALBERT", _T, _of("AlbertForMaskedLM", "AlbertConfig", _masked, **_PLAIN, embedding_size=8)),
    Entry("DistilBERT", _T, _of("DistilBertForSequenceClassification", "DistilBertConfig", _sentences,
        vocab_size=_VOCABULARY, dim=16, hidden_dim=32, n_layers=2, n_heads=2, max_position_embeddings=32)),
    Entry("Whisper", _T, _of("WhisperForConditionalGeneration", "WhisperConfig", _whisper, **{
        k: v for k, v in _DECODER.items() if k != "max_position_embeddings"}, **_SPECIAL, num_mel_bins=8,
        max_source_positions=20, max_target_positions=16, decoder_start_token_id=1)),
    Entry("wav2vec 2.0", _T, _of("Wav2Vec2ForCTC", "Wav2Vec2Config", _waves, **_WAV2VEC2), dict.fromkeys(
        KINDS, "draws random numbers from numpy's generator"),
        "its default `layerdrop=0.1` skips whole layers by a random number in Python, and SpecAugment draws its masks "
        "by numpy; with `layerdrop=0` and `apply_spec_augment=False` it is VERIFIED."),
    Entry("wav2vec 2.0 with layerdrop=0", _T, _of("Wav2Vec2ForCTC", "Wav2Vec2Config", _waves, **_WAV2VEC2,
        layerdrop=0.0), dict.fromkeys(KINDS, "draws random numbers from numpy's generator"),
        "captured once, the masks that SpecAugment draws by numpy would be the same in every step."),
    Entry("wav2vec 2.0 without either", _T, _of("Wav2Vec2ForCTC", "Wav2Vec2Config", _waves, **_WAV2VEC2,
        layerdrop=0.0, apply_spec_augment=False)),
    Entry("CLIP", _T, _clip),
    Entry("ViT", _T, _of("ViTForImageClassification", "ViTConfig", _images(16), **_VISION)),
    Entry("Swin", _T, _of("SwinForImageClassification", "SwinConfig", _images(32), image_size=32, patch_size=4,
        embed_dim=8, depths=[2, 2], num_heads=[1, 2], window_size=4, num_labels=5)),
    Entry("BEiT", _T, _of("BeitForImageClassification", "BeitConfig", _images(16), **_VISION,
        out_indices=[1, 2])),
    Entry("ViT-MAE", _T, _of("ViTMAEForPreTraining", "ViTMAEConfig", _images(16, None), **{
        k: v for k, v in _VISION.items() if k != "num_labels"}, decoder_hidden_size=16, decoder_num_hidden_layers=1,
        decoder_num_attention_heads=2, decoder_intermediate_size=32)),
    Entry("ConvNeXt", _T, _of("ConvNextForImageClassification", "ConvNextConfig", _images(32), num_stages=2,
        hidden_sizes=[8, 16], depths=[1, 1], num_labels=5)),
    Entry("SegFormer", _T, _of("SegformerForSemanticSegmentation", "SegformerConfig", _segments,
        num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[8, 16], patch_sizes=[7, 3],
        strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2], decoder_hidden_size=16, num_labels=3)),
    Entry("DETR", _T, _detr),
    Entry("Mamba", _T, _causal("MambaConfig", vocab_size=_VOCABULARY, hidden_size=16, state_size=4,
        num_hidden_layers=2, **_SPECIAL)),
    Entry("LoRA on Llama", "peft", _lora),
    Entry("DPO on Qwen2", _T, _dpo),
)  # fmt: skip
