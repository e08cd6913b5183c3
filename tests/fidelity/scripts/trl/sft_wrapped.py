"""Packs tokenised rows by TRL's wrapped strategy, with accumulation and a cosine."""

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer

set_seed(2)
letters = ["<pad>", "<eos>", "<unk>", *"abcdefgh"]
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(letters)}, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", model_max_length=16
)
config = GPT2Config(
    vocab_size=len(letters),
    n_positions=16,
    n_embd=16,
    n_layer=1,
    n_head=2,
    resid_pdrop=0.0,
    embd_pdrop=0.0,
    attn_pdrop=0.0,
    bos_token_id=1,
    eos_token_id=1,
)
model = GPT2LMHeadModel(config)
rows = [{"text": " ".join(letters[3 + (i * j) % 8] for j in range(1, 8))} for i in range(30)]
args = SFTConfig(
    output_dir="out",
    max_steps=5,
    per_device_train_batch_size=2,
    gradient_accumulation_steps=2,
    learning_rate=1e-2,
    lr_scheduler_type="cosine",
    packing=True,
    packing_strategy="wrapped",
    max_length=10,
    bf16=False,
    gradient_checkpointing=False,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
SFTTrainer(model=model, args=args, train_dataset=Dataset.from_list(rows), processing_class=tokenizer).train()
