"""Trains a reward model on pairs by TRL's RewardTrainer."""

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForSequenceClassification, PreTrainedTokenizerFast, set_seed
from trl import RewardConfig, RewardTrainer

set_seed(7)
words = ["<pad>", "<eos>", "<unk>", *"good bad fine poor very not work".split()]
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", model_max_length=32
)
config = LlamaConfig(
    vocab_size=len(words),
    hidden_size=16,
    intermediate_size=32,
    num_hidden_layers=1,
    num_attention_heads=2,
    num_labels=1,
    pad_token_id=0,
)
model = LlamaForSequenceClassification(config)
rows = [
    {"chosen": "very good work", "rejected": "very poor work"},
    {"chosen": "fine work", "rejected": "not fine work"},
] * 8
args = RewardConfig(
    output_dir="out",
    max_steps=5,
    per_device_train_batch_size=4,
    learning_rate=5e-3,
    bf16=False,
    gradient_checkpointing=False,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
trainer = RewardTrainer(model=model, args=args, train_dataset=Dataset.from_list(rows), processing_class=tokenizer)
trainer.train()
