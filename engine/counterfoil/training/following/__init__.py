"""A script's own training loop, followed step by step: what it does to its models becomes the programs of an order."""
