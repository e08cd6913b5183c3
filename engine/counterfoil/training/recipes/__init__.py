"""Recipes: ready-made orders. Each is an ordinary module, loss and optimizer, captured like any client's own."""
