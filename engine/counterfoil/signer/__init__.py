"""The signer: a process of its own that holds the private key, and reads nothing but statements to sign.

Whoever replays a run opens a file that may be hostile. The key, and the passphrase that opens it, are therefore never
in that process: :mod:`counterfoil.signer.client` starts :mod:`counterfoil.signer.server` before the file is opened, and
hands it what is to be signed at the end. docs/keys.md says what this protects, and what not.
"""
