"""The weights that a client gets: written out of a run, and compared with the run that a verdict is about."""
