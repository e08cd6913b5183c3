"""Losses and their gradients."""
