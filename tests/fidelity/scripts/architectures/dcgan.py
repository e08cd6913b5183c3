"""Trains a convolutional GAN with weights_init, BatchNorm and fixed noise for pictures."""

import torch
from torch import nn


def weights_init(m):
    if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif isinstance(m, nn.BatchNorm2d):
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


torch.manual_seed(999)
netG = nn.Sequential(
    nn.ConvTranspose2d(8, 8, 4, 1, 0, bias=False), nn.BatchNorm2d(8), nn.ReLU(True), nn.ConvTranspose2d(8, 1, 4, 2, 1)
)
netD = nn.Sequential(
    nn.Conv2d(1, 4, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(4, 8, 4, 1, 0), nn.Flatten(), nn.Linear(8, 1)
)
netG.apply(weights_init), netD.apply(weights_init)
criterion = nn.BCEWithLogitsLoss()
fixed_noise = torch.randn(4, 8, 1, 1)
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
for i in range(4):
    real = torch.rand(8, 1, 8, 8)
    label = torch.full((8, 1), 1.0)
    netD.zero_grad()
    errD_real = criterion(netD(real), label)
    errD_real.backward()
    fake = netG(torch.randn(8, 8, 1, 1))
    label.fill_(0.0)
    errD_fake = criterion(netD(fake.detach()), label)
    errD_fake.backward()
    optimizerD.step()
    netG.zero_grad()
    label.fill_(1.0)
    errG = criterion(netD(fake), label)
    errG.backward()
    optimizerG.step()
    with torch.no_grad():
        picture = netG(fixed_noise).mean().item()
    print(i, (errD_real + errD_fake).item(), errG.item(), picture)
