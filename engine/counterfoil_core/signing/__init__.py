"""Signatures: DSSE envelopes and in-toto statements, verified by public keys; nothing here holds a private one."""
