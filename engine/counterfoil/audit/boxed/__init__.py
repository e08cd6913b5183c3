"""Replays in a box (docs/sandbox.md): the process that computes a stranger's program, and what it may ask for.

``messages`` is what both sides say. ``inside`` is the process in the box, ``asking`` how it reaches what lies outside.
``answers`` is what the other side does for it, and no more; ``session`` is that side: it starts the process, reads
what it says as a stranger's, and hands it on.
"""
