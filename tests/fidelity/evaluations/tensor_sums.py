"""Keeps its counts in tensors, a confusion matrix among them, in inference mode; weights come from a file."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.save(nn.Linear(6, 3).state_dict(), "model.pt")
model = nn.Linear(6, 3)
model.load_state_dict(torch.load("model.pt"))
model.eval()
loader = DataLoader(TensorDataset(torch.randn(40, 6), torch.randint(0, 3, (40,))), batch_size=16)
correct = torch.zeros((), dtype=torch.int64)
confusion = torch.zeros(3, 3, dtype=torch.int64)
wrong = 0
seen = 0
with torch.inference_mode():
    for data, target in loader:
        answers = model(data).argmax(1)
        correct += (answers == target).sum()
        wrong += (answers != target).sum()
        confusion.index_put_((target, answers), torch.ones_like(answers), accumulate=True)
        seen = seen + data.size(0)
print(f"{correct.item()} right and {wrong.item()} wrong of {seen}, {confusion.tolist()}")
