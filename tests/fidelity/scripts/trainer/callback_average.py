"""Keeps an average of the weights in a callback after each step."""

import torch
from torch import nn
from transformers import Trainer, TrainerCallback, TrainingArguments


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(7, 14), nn.Linear(14, 4)

    def forward(self, x, labels):
        logits = self.b(torch.relu(self.a(x)))
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


class Average(TrainerCallback):
    def __init__(self, model):
        self.weights = {n: p.detach().clone() for n, p in model.named_parameters()}

    def on_step_end(self, args, state, control, model=None, **kwargs):
        with torch.no_grad():
            for n, p in model.named_parameters():
                self.weights[n].mul_(0.9).add_(p, alpha=0.1)


torch.manual_seed(12)
model = Net()
average = Average(model)
data = [{"x": torch.randn(7), "labels": i % 4} for i in range(40)]
args = TrainingArguments(
    "out",
    max_steps=8,
    per_device_train_batch_size=8,
    learning_rate=1e-2,
    report_to="none",
    use_cpu=True,
    save_strategy="no",
)
Trainer(model, args, train_dataset=data, callbacks=[average]).train()
torch.save(average.weights, "average.pt")
