"""Program: a training step as data, captured once and interpreted from an allow-list of operators."""
