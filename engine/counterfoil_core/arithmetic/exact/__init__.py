"""The exact profiles: operators by their definitions, without a log."""
