"""Program: a training step as data, a list of operators of the allow-list, and what it takes to compute it."""
