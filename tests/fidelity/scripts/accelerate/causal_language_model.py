"""Fine-tunes a tiny GPT-2 with Accelerate and the linear schedule of transformers."""

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel, get_scheduler, set_seed

set_seed(6)
accelerator = Accelerator(cpu=True)
config = GPT2Config(
    vocab_size=24, n_positions=16, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0
)
model = GPT2LMHeadModel(config)
no_decay = ["bias", "ln_"]
groups = [
    {"params": [p for n, p in model.named_parameters() if not any(k in n for k in no_decay)], "weight_decay": 0.1},
    {"params": [p for n, p in model.named_parameters() if any(k in n for k in no_decay)], "weight_decay": 0.0},
]
optimizer = torch.optim.AdamW(groups, lr=5e-3)
loader = DataLoader(torch.randint(0, 24, (24, 10)), batch_size=6, shuffle=True)
scheduler = get_scheduler("linear", optimizer, num_warmup_steps=2, num_training_steps=8)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
for epoch in range(2):
    model.train()
    for tokens in loader:
        loss = model(input_ids=tokens, labels=tokens).loss
        accelerator.backward(loss)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    print(f"epoch {epoch}: loss {loss.item():.4f}, lr {scheduler.get_last_lr()[0]:.6f}")
