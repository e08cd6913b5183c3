"""Replays in a box (docs/sandbox.md): the process that computes a stranger's program, and what it may ask for.

``tasks`` is what it can be asked to do, ``answers`` what is done for it outside, and no more: each a function that is
declared once, whose signature says what goes in and comes out. ``inside`` and ``work`` are the process in the box,
``asking`` how it reaches what lies outside. ``session`` is the other side: it starts the process, reads what it says
(``messages``) as a stranger's, and hands it on.
"""
