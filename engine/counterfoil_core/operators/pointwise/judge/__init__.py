"""What judges operators that work on each element alone: exact ones, rounded ones, and these under exact profiles."""
