"""Adds a penalty in every third step, by the Trainer's own global_step."""

import torch
from torch import nn
from transformers import Trainer, TrainingArguments


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(6, 12), nn.Linear(12, 6)

    def forward(self, x):
        return self.down(torch.tanh(self.up(x)))


class PenaltyTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        out = model(inputs["x"])
        loss = nn.functional.mse_loss(out, inputs["labels"])
        if self.state.global_step % 3 == 0:
            loss = loss + 0.1 * model.up.weight.abs().sum()
        return (loss, out) if return_outputs else loss


torch.manual_seed(8)
model = Net()
points = torch.randn(40, 6)
data = [{"x": p, "labels": p.flip(0)} for p in points]
args = TrainingArguments(
    output_dir="out",
    max_steps=9,
    per_device_train_batch_size=8,
    learning_rate=1e-2,
    logging_steps=3,
    remove_unused_columns=False,
    report_to="none",
    use_cpu=True,
    save_strategy="no",
)
trainer = PenaltyTrainer(model, args, train_dataset=data)
trainer.train()
