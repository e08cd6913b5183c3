"""Whom a reader trusts, kept in one folder of the reader's, and which statements count for somebody who does."""
