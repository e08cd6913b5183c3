"""Runs recorded on one machine and replayed on another; see :mod:`benchmarks.cross_hardware.__main__`."""
