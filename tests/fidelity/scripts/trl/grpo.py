"""Trains by TRL's GRPOTrainer on completions that the model draws, with a reward function."""

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer

set_seed(6)
words = ["<pad>", "<eos>", "<unk>", *"one two three four five six".split()]
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left"
)
config = LlamaConfig(
    vocab_size=len(words),
    hidden_size=16,
    intermediate_size=32,
    num_hidden_layers=1,
    num_attention_heads=2,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=1,
)
model = LlamaForCausalLM(config)


def even(completions, **kwargs):
    return [sum(c.count(w) for w in ("two", "four", "six")) / 4 for c in completions]


args = GRPOConfig(
    output_dir="out",
    max_steps=4,
    per_device_train_batch_size=4,
    num_generations=4,
    max_completion_length=4,
    learning_rate=5e-3,
    bf16=False,
    gradient_checkpointing=False,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
dataset = Dataset.from_dict({"prompt": ["one two", "three", "five six one"] * 4})
trainer = GRPOTrainer(model, reward_funcs=even, args=args, train_dataset=dataset, processing_class=tokenizer)
trainer.train()
