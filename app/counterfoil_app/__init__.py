"""Counterfoil's window: shows what the engine finds out. It knows the engine by the public names of ``counterfoil``."""
