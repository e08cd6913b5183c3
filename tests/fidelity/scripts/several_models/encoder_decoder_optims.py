"""Trains encoder and decoder of a sequence model with an optimizer each and teacher forcing."""

import torch
from torch import nn, optim

torch.manual_seed(5)
embed_in, encoder = nn.Embedding(10, 8), nn.GRU(8, 12, batch_first=True)
embed_out, decoder, out = nn.Embedding(10, 8), nn.GRU(8, 12, batch_first=True), nn.Linear(12, 10)
encoder_optimizer = optim.Adam([*embed_in.parameters(), *encoder.parameters()], lr=1e-2)
decoder_optimizer = optim.Adam([*embed_out.parameters(), *decoder.parameters(), *out.parameters()], lr=1e-2)
criterion = nn.CrossEntropyLoss()
for i in range(5):
    source = torch.randint(1, 10, (6, 5))
    target = source.flip(1)
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    _, hidden = encoder(embed_in(source))
    start = torch.zeros(6, 1, dtype=torch.long)
    states, _ = decoder(embed_out(torch.cat([start, target[:, :-1]], 1)), hidden)
    loss = criterion(out(states).flatten(0, 1), target.flatten())
    loss.backward()
    encoder_optimizer.step()
    decoder_optimizer.step()
    print(i, loss.item())
