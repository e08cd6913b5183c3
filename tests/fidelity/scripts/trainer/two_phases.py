"""Trains the head with one Trainer and then everything with another one."""

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(13)
config = BertConfig(
    vocab_size=20,
    hidden_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=24,
    max_position_embeddings=12,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
    num_labels=3,
)
model = BertForSequenceClassification(config)
words = torch.randint(0, 20, (24, 6))
data = [{"input_ids": w, "labels": int(w.sum()) % 3} for w in words]
for phase, (frozen, lr) in enumerate([(True, 1e-2), (False, 1e-3)]):
    model.bert.requires_grad_(not frozen)
    args = TrainingArguments(
        f"phase{phase}",
        max_steps=4,
        per_device_train_batch_size=6,
        learning_rate=lr,
        report_to="none",
        use_cpu=True,
        save_strategy="no",
    )
    trainer = Trainer(model=model, args=args, train_dataset=data)
    trainer.train()
model.save_pretrained("classifier")
