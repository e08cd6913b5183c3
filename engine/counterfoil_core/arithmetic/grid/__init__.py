"""The paper's method: results of higher precision are rounded to a grid; the log holds close decisions."""
