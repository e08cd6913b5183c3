"""What an auditor signs: written, read strictly, and checked against itself."""
