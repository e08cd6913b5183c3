"""Stops after half of the steps and resumes with a new Trainer from its checkpoint."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

config = GPT2Config(
    vocab_size=16, n_positions=8, n_embd=16, n_layer=1, n_head=2, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0
)
rows = torch.randint(0, 16, (24, 8), generator=torch.Generator().manual_seed(11))
data = [{"input_ids": row, "labels": row} for row in rows]


def run(steps, resume):
    set_seed(11)
    args = TrainingArguments(
        output_dir="out",
        max_steps=steps,
        per_device_train_batch_size=4,
        learning_rate=1e-2,
        lr_scheduler_type="constant",
        save_steps=4,
        report_to="none",
        use_cpu=True,
    )
    trainer = Trainer(model=GPT2LMHeadModel(config), args=args, train_dataset=data)
    trainer.train(resume_from_checkpoint=resume)
    return trainer


run(4, None)
trainer = run(8, "out/checkpoint-4")
model = trainer.model
print(trainer.state.global_step, trainer.state.log_history[-1])
