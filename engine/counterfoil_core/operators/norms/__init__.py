"""Batch, layer and group norm, and their gradients."""
