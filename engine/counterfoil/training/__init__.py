"""Training: orders, recipes, and the recorder that a trainer uses."""
