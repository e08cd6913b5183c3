"""Trains on completions only, from prompts and completions, by TRL."""

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer

set_seed(3)
words = ["<pad>", "<eos>", "<unk>", "sum", "of", "is", *[str(i) for i in range(10)]]
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", model_max_length=32
)
model = LlamaForCausalLM(
    LlamaConfig(vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
)
rows = [{"prompt": f"sum of {a} {b} is", "completion": f" {a + b}"} for a in range(5) for b in range(5)]
args = SFTConfig(
    output_dir="out",
    max_steps=6,
    per_device_train_batch_size=5,
    learning_rate=5e-3,
    completion_only_loss=True,
    bf16=False,
    gradient_checkpointing=False,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
trainer = SFTTrainer(model, args, train_dataset=Dataset.from_list(rows), processing_class=tokenizer)
trainer.train()
