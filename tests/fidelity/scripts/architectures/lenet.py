"""Trains a LeNet with dropout, as the first tutorial of many courses does."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 5, padding=2)
        self.conv2 = nn.Conv2d(4, 8, 3)
        self.dropout = nn.Dropout2d(0.25)
        self.fc1 = nn.Linear(8 * 3 * 3, 24)
        self.fc2 = nn.Linear(24, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(self.dropout(x), 2)
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        x = F.dropout(x, 0.5, self.training)
        return F.log_softmax(self.fc2(x), dim=1)


torch.manual_seed(1)
model = LeNet()
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
for batch_idx in range(6):
    data, target = torch.randn(8, 1, 16, 16), torch.randint(0, 10, (8,))
    optimizer.zero_grad()
    output = model(data)
    loss = F.nll_loss(output, target)
    loss.backward()
    optimizer.step()
    print(f"Train: {batch_idx} Loss: {loss.item():.6f}")
