"""What the judges of all families share: numbers without rounding errors, IEEE 754, and forms of definitions."""
