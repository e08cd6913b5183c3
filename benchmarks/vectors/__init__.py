"""Conformance vectors: small inputs with the results that every implementation must have."""
