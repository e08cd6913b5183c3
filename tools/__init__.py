"""What looks after the repository itself, and is no part of what is installed."""
