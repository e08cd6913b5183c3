"""Sealed files: a file that named judges can open and nobody else, in the format of age (age-encryption.org/v1).

A dispute capsule holds rows of the client's data and the state of a model. Sealed, it can go through hands that are to
see neither. The format is age's own, so that a judge needs no Counterfoil to open it. docs/sealed-capsules.md; ADR 20.
"""
