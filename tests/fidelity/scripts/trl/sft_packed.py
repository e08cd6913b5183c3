"""Packs texts into blocks by packing=True of TRL's SFTTrainer, in its default strategy."""

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer

set_seed(1)
words = ["<pad>", "<eos>", "<unk>", *"zero one two three four five six seven eight nine".split()]
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", model_max_length=32
)
config = LlamaConfig(
    vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2
)
model = LlamaForCausalLM(config)
texts = [" ".join(words[3 + (i + j) % 10] for j in range(2 + i % 5)) for i in range(40)]
args = SFTConfig(
    output_dir="out",
    num_train_epochs=2,
    per_device_train_batch_size=4,
    learning_rate=1e-2,
    packing=True,
    max_length=12,
    bf16=False,
    gradient_checkpointing=False,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
dataset = Dataset.from_dict({"text": texts})
trainer = SFTTrainer(model=model, args=args, train_dataset=dataset, processing_class=tokenizer)
trainer.train()
