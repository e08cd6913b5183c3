"""Fuzzes everything that reads what a stranger may have written; ``python -m tests.fuzz`` runs a campaign."""
