"""Fine-tunes a tiny Llama on texts by TRL's SFTTrainer."""

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer

set_seed(0)
words = ["<pad>", "<eos>", "<unk>", "red", "green", "blue", "is", "a", "colour", "warm", "cold", "and"]
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", model_max_length=32
)
config = LlamaConfig(
    vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2
)
model = LlamaForCausalLM(config)
texts = ["red is a warm colour", "blue is a cold colour", "green and blue", "red and green is a colour"] * 4
args = SFTConfig(
    output_dir="out",
    max_steps=6,
    per_device_train_batch_size=4,
    learning_rate=5e-3,
    max_length=16,
    bf16=False,
    gradient_checkpointing=False,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
trainer = SFTTrainer(
    model=model, args=args, train_dataset=Dataset.from_dict({"text": texts}), processing_class=tokenizer
)
trainer.train()
model.save_pretrained("tuned")
