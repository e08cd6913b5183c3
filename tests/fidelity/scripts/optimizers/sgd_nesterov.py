"""Trains a small convolutional net with Nesterov momentum and weight decay."""

import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(42)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(8 * 4 * 4, 5)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv(x)))
        return self.fc(torch.flatten(x, 1))


net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.9, nesterov=True, weight_decay=5e-4)
inputs = torch.randn(6, 8, 3, 8, 8)
labels = torch.randint(0, 5, (6, 8))
for i in range(6):
    optimizer.zero_grad()
    outputs = net(inputs[i])
    loss = criterion(outputs, labels[i])
    loss.backward()
    optimizer.step()
    print(f"[{i + 1}] loss: {loss.item():.3f}")
