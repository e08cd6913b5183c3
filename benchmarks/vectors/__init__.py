"""Conformance vectors: small inputs with the results that every implementation must have."""

from benchmarks.vectors.writing import write_vectors

__all__ = ["write_vectors"]
