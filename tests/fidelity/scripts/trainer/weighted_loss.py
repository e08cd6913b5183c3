"""Overrides compute_loss with class weights on a BERT classifier that has dropout."""

import torch
from torch import nn
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = nn.functional.cross_entropy(outputs.logits, labels, weight=torch.tensor([1.0, 3.0]))
        return (loss, outputs) if return_outputs else loss


set_seed(2)
config = BertConfig(
    vocab_size=24,
    hidden_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=32,
    max_position_embeddings=16,
    num_labels=2,
)
model = BertForSequenceClassification(config)
words = torch.randint(0, 24, (24, 8))
data = [{"input_ids": w, "attention_mask": torch.ones_like(w), "labels": int(w[0] > 18)} for w in words]
args = TrainingArguments(
    output_dir="out",
    max_steps=5,
    per_device_train_batch_size=6,
    learning_rate=2e-3,
    weight_decay=0.01,
    report_to="none",
    use_cpu=True,
    save_strategy="no",
)
trainer = WeightedTrainer(model=model, args=args, train_dataset=data)
print(trainer.train().training_loss)
