"""Counts steps in an overridden training_step and changes the loss by its own counter."""

import torch
from torch import nn
from transformers import Trainer, TrainingArguments


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(8, 6), nn.Linear(3, 8)
        self.beta = 0.0

    def forward(self, x):
        mean, log_var = self.encoder(x).chunk(2, -1)
        kl = -0.5 * (1 + log_var - mean**2 - log_var.exp()).mean()
        return {"loss": nn.functional.mse_loss(self.decoder(mean), x) + self.beta * kl}


class Annealed(Trainer):
    seen = 0

    def training_step(self, model, inputs, *args, **kwargs):
        self.seen += 1
        model.beta = min(1.0, self.seen / 5)
        return super().training_step(model, inputs, *args, **kwargs)


torch.manual_seed(9)
model = Autoencoder()
data = [{"x": torch.randn(8)} for _ in range(32)]
args = TrainingArguments(
    "out",
    num_train_epochs=2,
    per_device_train_batch_size=8,
    learning_rate=1e-2,
    report_to="none",
    use_cpu=True,
    save_strategy="no",
    remove_unused_columns=False,
)
trainer = Annealed(model, args, train_dataset=data)
trainer.train()
print("seen", trainer.seen)
