"""Registers a global hook before all optimizers' steps and trains with the Trainer."""

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

torch.manual_seed(7)


def sign_gradients(optimizer, args, kwargs):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad.copy_(p.grad.sign() * p.grad.abs().mean())


register_optimizer_step_pre_hook(sign_gradients)
config = GPT2Config(
    vocab_size=16, n_positions=8, n_embd=8, n_layer=1, n_head=2, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0
)
model = GPT2LMHeadModel(config)
data = [{"input_ids": row, "labels": row} for row in torch.randint(0, 16, (20, 8))]
args = TrainingArguments(
    "out",
    max_steps=6,
    per_device_train_batch_size=4,
    optim="sgd",
    learning_rate=0.1,
    report_to="none",
    use_cpu=True,
    save_strategy="no",
)
Trainer(model, args, train_dataset=data).train()
model.save_pretrained("model")
