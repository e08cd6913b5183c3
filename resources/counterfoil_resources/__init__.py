"""Icons, themes and sample data, read with importlib.resources so that every kind of package holds them."""
