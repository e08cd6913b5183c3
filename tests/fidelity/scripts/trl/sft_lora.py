"""Fine-tunes adapters of PEFT by TRL and saves them."""

from datasets import Dataset
from peft import LoraConfig
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer

set_seed(4)
words = ["<pad>", "<eos>", "<unk>", *"the cat dog sat ran on under mat tree".split()]
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", model_max_length=32
)
config = LlamaConfig(
    vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2
)
model = LlamaForCausalLM(config)
texts = ["the cat sat on the mat", "the dog ran under the tree", "the cat ran on the tree"] * 6
args = SFTConfig(
    output_dir="out",
    max_steps=6,
    per_device_train_batch_size=3,
    learning_rate=1e-2,
    bf16=False,
    gradient_checkpointing=False,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
trainer = SFTTrainer(
    model=model,
    args=args,
    train_dataset=Dataset.from_dict({"text": texts}),
    processing_class=tokenizer,
    peft_config=LoraConfig(r=2, lora_alpha=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"),
)
trainer.train()
trainer.save_model("adapter")
