"""Trains a Keras 3 model on the torch backend in an ordinary loop with an optimizer of torch."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import torch

torch.manual_seed(1)
keras.utils.set_random_seed(1)
model = keras.Sequential(
    [keras.Input((5,)), keras.layers.Dense(12, activation="tanh"), keras.layers.Dense(1, name="out")]
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(8):
    x = torch.randn(16, 5)
    loss = torch.nn.functional.mse_loss(model(x), x.mean(1, keepdim=True))
    model.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
torch.save(model.state_dict(), "keras.pt")
