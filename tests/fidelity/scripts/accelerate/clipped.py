"""Clips gradients by the accelerator where gradients are synchronised."""

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader

set_seed(2)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=3)
model = nn.Sequential(nn.Embedding(14, 10), nn.Linear(10, 14))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.1)
rows = torch.randint(0, 14, (36, 9))
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(rows, batch_size=4))
for epoch in range(2):
    for row in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(row[:, :-1]).transpose(1, 2), row[:, 1:])
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 0.3)
            optimizer.step()
            optimizer.zero_grad()
    accelerator.print(f"epoch {epoch}: {loss.item():.4f}")
accelerator.save(accelerator.unwrap_model(model).state_dict(), "model.pt")
