"""Registers a post-hook on the optimizer that the Trainer was given."""

import torch
from torch import nn
from transformers import Trainer, TrainingArguments


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(5, 3)

    def forward(self, x, labels):
        return {"loss": nn.functional.cross_entropy(self.linear(x), labels)}


def keep_small(optimizer, args, kwargs):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.data.clamp_(-0.3, 0.3)


torch.manual_seed(6)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
optimizer.register_step_post_hook(keep_small)
scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=1.0)
data = [{"x": torch.randn(5), "labels": i % 3} for i in range(30)]
args = TrainingArguments(
    "out", max_steps=8, per_device_train_batch_size=5, report_to="none", use_cpu=True, save_strategy="no"
)
trainer = Trainer(model, args, train_dataset=data, optimizers=(optimizer, scheduler))
trainer.train()
