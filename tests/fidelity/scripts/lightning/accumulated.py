"""Accumulates batches and clips gradients by options of Lightning's Trainer, with a schedule for each step."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader


class Language(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(16, 12), nn.Linear(12, 16)

    def training_step(self, rows, batch_idx):
        logits = self.out(torch.relu(self.embed(rows[:, :-1])))
        return nn.functional.cross_entropy(logits.transpose(1, 2), rows[:, 1:])

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-2, total_steps=8)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


L.seed_everything(3)
model = Language()
trainer = L.Trainer(
    max_epochs=2,
    accelerator="cpu",
    devices=1,
    accumulate_grad_batches=2,
    gradient_clip_val=0.5,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(model, DataLoader(torch.randint(0, 16, (32, 9)), batch_size=4, shuffle=True))
torch.save(model.state_dict(), "language.pt")
