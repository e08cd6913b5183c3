"""Stops by the EarlyStoppingCallback on the evaluation loss."""

import torch
from torch import nn
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments, set_seed


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 2))

    def forward(self, x, labels=None):
        logits = self.layers(x)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


set_seed(5)
rows = [{"x": torch.randn(6), "labels": int(torch.randint(0, 2, ()))} for _ in range(40)]
model = Net()
args = TrainingArguments(
    output_dir="out",
    num_train_epochs=8,
    per_device_train_batch_size=10,
    learning_rate=3e-2,
    eval_strategy="epoch",
    save_strategy="epoch",
    load_best_model_at_end=True,
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(model, args, train_dataset=rows[:20], eval_dataset=rows[20:], callbacks=[EarlyStoppingCallback(2)])
trainer.train()
print("stopped after", trainer.state.global_step)
