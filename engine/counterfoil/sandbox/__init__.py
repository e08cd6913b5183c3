"""A process that computes for a stranger closes a box around itself, which it cannot leave (docs/sandbox.md).

``policy`` says what a box lets through, as data. ``filter`` makes the kernel's program of the system calls that are
refused, as data. ``kernel`` asks the kernel, and knows no policy. ``box`` puts them together.
"""
