"""Loops compiled by numba for the CPU."""
