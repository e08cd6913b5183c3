"""Drives the window without a user, for the demo and for pictures."""
