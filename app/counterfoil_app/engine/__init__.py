"""The engine as the window sees it: its port, its process, and what comes from there."""
