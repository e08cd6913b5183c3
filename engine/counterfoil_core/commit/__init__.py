"""Commitments: digests, Merkle trees and proofs."""
