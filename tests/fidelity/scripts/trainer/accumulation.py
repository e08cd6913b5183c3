"""Accumulates two batches under the Trainer with warm-up, a cosine and clipping."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

torch.manual_seed(4)
config = LlamaConfig(vocab_size=18, hidden_size=12, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2)
model = LlamaForCausalLM(config)


def collate(rows):
    longest = max(len(r) for r in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    labels = torch.full((len(rows), longest), -100)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        labels[i, : len(row)] = row
    return {"input_ids": ids, "attention_mask": (labels != -100).long(), "labels": labels}


data = [torch.randint(1, 18, (int(n),)) for n in torch.randint(5, 11, (30,))]
args = TrainingArguments(
    output_dir="out",
    num_train_epochs=2,
    per_device_train_batch_size=3,
    gradient_accumulation_steps=2,
    learning_rate=1e-2,
    lr_scheduler_type="cosine",
    warmup_steps=2,
    max_grad_norm=0.5,
    remove_unused_columns=False,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(model=model, args=args, train_dataset=data, data_collator=collate)
trainer.train()
