"""Has everything in a main function with argparse defaults and saves the model at the end."""

import argparse

import torch
from torch import nn


def build(width):
    return nn.Sequential(nn.Linear(7, width), nn.ReLU(), nn.Linear(width, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--width", type=int, default=14)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    x = torch.randn(30, 7)
    y = x.abs().max(1, keepdim=True).values
    model = build(args.width)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        for xb, yb in zip(x.split(10), y.split(10)):
            loss = nn.functional.mse_loss(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}/{args.epochs}: {loss.item():.4f}")
    torch.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    main()
