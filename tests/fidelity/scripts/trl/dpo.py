"""Trains on pairs of chosen and rejected answers by TRL's DPOTrainer."""

import copy

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import DPOConfig, DPOTrainer

set_seed(5)
words = ["<pad>", "<eos>", "<unk>", *"say hello please thanks no go away now".split()]
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", model_max_length=32
)
config = LlamaConfig(
    vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2
)
model = LlamaForCausalLM(config)
rows = [
    {"prompt": "say hello", "chosen": " hello please", "rejected": " go away"},
    {"prompt": "say no", "chosen": " no thanks", "rejected": " no go now"},
] * 8
args = DPOConfig(
    output_dir="out",
    max_steps=5,
    per_device_train_batch_size=4,
    learning_rate=5e-3,
    beta=0.1,
    bf16=False,
    gradient_checkpointing=False,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
trainer = DPOTrainer(
    model=model,
    ref_model=copy.deepcopy(model),
    args=args,
    train_dataset=Dataset.from_list(rows),
    processing_class=tokenizer,
)
trainer.train()
