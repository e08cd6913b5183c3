"""What every room may stand on: errors and sentences, names of dtypes, canonical JSON, strict reading, cancelling.

Nothing here knows what a checkpoint, a step or a bundle is, and nothing here imports another room.
"""
