"""Fits a polynomial with plain tensors, autograd and updates by hand."""

import math

import torch

torch.manual_seed(5)
x = torch.linspace(-math.pi, math.pi, 200)
y = torch.sin(x)
a = torch.randn((), requires_grad=True)
b = torch.randn((), requires_grad=True)
c = torch.randn((), requires_grad=True)
d = torch.randn((), requires_grad=True)
learning_rate = 1e-4
for t in range(12):
    y_pred = a + b * x + c * x**2 + d * x**3
    loss = (y_pred - y).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for w in (a, b, c, d):
            w -= learning_rate * w.grad
            w.grad = None
    print(t, loss.item())
print(f"y = {a.item()} + {b.item()} x + {c.item()} x^2 + {d.item()} x^3")
