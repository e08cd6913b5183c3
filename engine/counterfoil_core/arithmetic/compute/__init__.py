"""A program, interpreted operator by operator, natively."""
