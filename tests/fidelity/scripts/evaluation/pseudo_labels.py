"""Labels unlabelled data with its own confident guesses and trains on them."""

import torch
from torch import nn

torch.manual_seed(5)
model = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
x, y = torch.randn(24, 6), torch.randint(0, 3, (24,))
unlabelled = torch.randn(60, 6)
for round_ in range(3):
    inputs, labels = x, y
    if round_ > 0:
        model.eval()
        with torch.no_grad():
            confidence, guess = model(unlabelled).softmax(1).max(1)
        chosen = confidence > 0.4
        inputs, labels = torch.cat([x, unlabelled[chosen]]), torch.cat([y, guess[chosen]])
        model.train()
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(round_, len(inputs), loss.item())
