"""Runs recorded on one machine and replayed on another, and the reverse; :mod:`.campaign` is what they share."""
