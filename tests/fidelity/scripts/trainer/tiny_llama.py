"""Fine-tunes a tiny Llama by the Trainer with its default loss and optimizer."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

set_seed(0)
config = LlamaConfig(
    vocab_size=32,
    hidden_size=16,
    intermediate_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=1,
    max_position_embeddings=32,
)
model = LlamaForCausalLM(config)
texts = torch.randint(0, 32, (24, 10))
data = [{"input_ids": row, "labels": row} for row in texts]
args = TrainingArguments(
    output_dir="out",
    max_steps=6,
    per_device_train_batch_size=4,
    learning_rate=5e-3,
    logging_steps=2,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(model=model, args=args, train_dataset=data)
trainer.train()
