"""Loops compiled by Triton for CUDA devices; the interpreter of Triton runs them on the CPU in tests."""
