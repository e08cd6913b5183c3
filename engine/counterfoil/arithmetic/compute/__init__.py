"""Runs a program operator by operator, natively or in the manner of other hardware."""
