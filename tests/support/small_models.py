"""Folders of tiny models of transformers, with random weights and a tokenizer trained on a few sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SENTENCES = [
    "the auditor replays what the trainer did",
    "the client keeps the order and the trainer keeps the run",
    "nobody trusts a loss that nobody can replay",
    "what was not ordered was not trained",
]
CONTEXT = 48


def tokenizer(**special: str) -> Any:
    """A byte-level tokenizer of about 300 tokens."""
    import tokenizers
    import transformers

    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    names = list(special.values())
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=names,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(SENTENCES, trainer)
    if "cls_token" in special:
        pair = [(special[name], made.token_to_id(special[name])) for name in ("cls_token", "sep_token")]
        made.post_processor = tokenizers.processors.TemplateProcessing(
            single=f"{pair[0][0]} $A {pair[1][0]}", special_tokens=pair
        )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=CONTEXT, **special)


def gpt2(folder: Path, **changes: Any) -> Path:
    """A GPT-2 of one layer, whose tokenizer has no padding token, as the public one."""
    import torch
    import transformers

    torch.manual_seed(1)
    words = tokenizer(eos_token="<|endoftext|>", bos_token="<|endoftext|>")
    sizes = {"n_positions": CONTEXT, "n_embd": 16, "n_layer": 1, "n_head": 2}
    config = transformers.GPT2Config(vocab_size=len(words), bos_token_id=0, eos_token_id=0, **(sizes | changes))
    return _saved(folder, transformers.GPT2LMHeadModel(config), words)


def llama(folder: Path) -> Path:
    """A Llama of one layer with grouped queries, in several files of bfloat16."""
    import torch
    import transformers

    torch.manual_seed(2)
    words = tokenizer(bos_token="<s>", eos_token="</s>")
    config = transformers.LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        bos_token_id=0,
        eos_token_id=1,
    )
    return _saved(folder, transformers.LlamaForCausalLM(config).to(torch.bfloat16), words, max_shard_size="12KB")


def family(folder: Path, name: str) -> Path:
    """A causal model of one layer, or of two with two kinds of attention, of the family of a name."""
    import torch
    import transformers

    if name == "llama":
        return llama(folder)
    torch.manual_seed(4)
    words = tokenizer(bos_token="<s>", eos_token="</s>")
    sizes: dict[str, Any] = {
        "vocab_size": len(words),
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": CONTEXT,
        "bos_token_id": 0,
        "eos_token_id": 1,
    }
    kinds = ["sliding_attention", "full_attention"]
    kind, more = {
        "qwen2": ("Qwen2", {}),
        "qwen3": ("Qwen3", {"head_dim": 8}),
        "gemma": ("Gemma", {"head_dim": 8}),
        "gemma2": ("Gemma2", {"head_dim": 8, "num_hidden_layers": 2, "sliding_window": 6}),
        "gemma3": ("Gemma3", {"head_dim": 8, "num_hidden_layers": 2, "sliding_window": 6, "layer_types": kinds}),
        "mistral": ("Mistral", {"sliding_window": 6}),
    }[name]
    config = getattr(transformers, f"{kind}{'Text' * (kind == 'Gemma3')}Config")(**(sizes | more))
    return _saved(folder, getattr(transformers, f"{kind}ForCausalLM")(config), words)


def bert(folder: Path, *, classes: int = 0) -> Path:
    """A BERT of one layer: with a head for masked words, or for ``classes`` classes."""
    import torch
    import transformers

    torch.manual_seed(3)
    words = tokenizer(pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=CONTEXT,
        num_labels=classes or 2,
    )
    kind = transformers.BertForSequenceClassification if classes else transformers.BertForMaskedLM
    return _saved(folder, kind(config), words)


def _saved(folder: Path, model: Any, words: Any, **settings: Any) -> Path:
    model.save_pretrained(folder, **settings)
    words.save_pretrained(folder)
    return folder
