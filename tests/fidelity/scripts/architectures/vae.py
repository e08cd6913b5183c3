"""Trains a variational autoencoder with the reparameterisation trick."""

import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 16)
        self.fc21, self.fc22 = nn.Linear(16, 3), nn.Linear(16, 3)
        self.fc3, self.fc4 = nn.Linear(3, 16), nn.Linear(16, 20)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def forward(self, x):
        h = F.relu(self.fc1(x))
        mu, logvar = self.fc21(h), self.fc22(h)
        z = self.reparameterize(mu, logvar)
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar


torch.manual_seed(9)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
data = (torch.rand(48, 20) < 0.3).float()
for epoch in range(2):
    for batch in data.split(12):
        optimizer.zero_grad()
        recon, mu, logvar = model(batch)
        bce = F.binary_cross_entropy(recon, batch, reduction="sum")
        loss = bce - 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        sample = torch.sigmoid(model.fc4(F.relu(model.fc3(torch.randn(4, 3)))))
    print(epoch, loss.item() / 12, sample.mean().item())
