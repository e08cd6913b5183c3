"""Functions of which only the names are imported."""
