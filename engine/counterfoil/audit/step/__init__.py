"""One step of a run: replayed, and judged where it differs."""
