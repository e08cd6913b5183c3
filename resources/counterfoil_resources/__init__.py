"""Icons, themes and sample data, read with :mod:`importlib.resources` so that they are found in every kind of package."""
