"""Trains a convolutional autoencoder on noisy images."""

import torch
from torch import nn

torch.manual_seed(8)
encoder = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.ReLU(), nn.Conv2d(4, 8, 3, 2, 1), nn.ReLU())
decoder = nn.Sequential(
    nn.ConvTranspose2d(8, 4, 3, 2, 1, output_padding=1), nn.ReLU(), nn.ConvTranspose2d(4, 1, 3, 2, 1, output_padding=1)
)
autoencoder = nn.Sequential(encoder, decoder, nn.Sigmoid())
optimizer = torch.optim.Adam(autoencoder.parameters(), lr=5e-3)
images = torch.rand(40, 1, 8, 8)
for epoch in range(2):
    for batch in images.split(10):
        noisy = (batch + 0.2 * torch.randn_like(batch)).clamp(0, 1)
        loss = nn.functional.binary_cross_entropy(autoencoder(noisy), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
torch.save({"encoder": encoder.state_dict(), "decoder": decoder.state_dict()}, "autoencoder.pt")
