"""Lets a pool of two processes compute gradients and steps with their mean in the parent."""

import torch
import torch.multiprocessing as mp
from torch import nn


def gradient(task):
    state, x, y = task
    model = nn.Linear(5, 1)
    model.load_state_dict({name: torch.tensor(value) for name, value in state.items()})
    nn.functional.mse_loss(model(torch.tensor(x)), torch.tensor(y)).backward()
    return [p.grad.tolist() for p in model.parameters()]


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(15)
    x = torch.randn(40, 5)
    y = x.sum(1, keepdim=True)
    model = nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with mp.get_context("fork").Pool(2) as pool:
        for step in range(5):
            state = {name: value.tolist() for name, value in model.state_dict().items()}
            shares = [(state, x[i : i + 20].tolist(), y[i : i + 20].tolist()) for i in (0, 20)]
            grads = pool.map(gradient, shares)
            for p, *parts in zip(model.parameters(), *grads):
                p.grad = torch.tensor(parts).mean(0)
            optimizer.step()
            print(step, nn.functional.mse_loss(model(x), y).item())
