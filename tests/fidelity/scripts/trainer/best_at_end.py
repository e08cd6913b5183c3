"""Evaluates and saves each epoch and loads the best checkpoint at the end."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(3)
config = GPT2Config(
    vocab_size=20, n_positions=16, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0
)
model = GPT2LMHeadModel(config)
rows = torch.randint(0, 20, (28, 9))
data = [{"input_ids": r, "labels": r} for r in rows]
args = TrainingArguments(
    output_dir="runs",
    num_train_epochs=3,
    per_device_train_batch_size=5,
    learning_rate=2e-2,
    eval_strategy="epoch",
    save_strategy="epoch",
    save_total_limit=1,
    load_best_model_at_end=True,
    metric_for_best_model="eval_loss",
    greater_is_better=False,
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(model=model, args=args, train_dataset=data[:20], eval_dataset=data[20:])
trainer.train()
print(trainer.evaluate())
trainer.save_model("best")
