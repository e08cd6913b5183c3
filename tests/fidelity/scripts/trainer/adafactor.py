"""Trains by the Trainer with Adafactor and a constant rate."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

torch.manual_seed(10)
model = LlamaForCausalLM(
    LlamaConfig(vocab_size=20, hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2)
)
data = [{"input_ids": row, "labels": row} for row in torch.randint(0, 20, (20, 8))]
args = TrainingArguments(
    output_dir="out",
    max_steps=6,
    per_device_train_batch_size=4,
    optim="adafactor",
    learning_rate=1e-2,
    lr_scheduler_type="constant",
    report_to="none",
    use_cpu=True,
    save_strategy="no",
)
trainer = Trainer(model=model, args=args, train_dataset=data)
print(trainer.train().metrics["train_loss"])
