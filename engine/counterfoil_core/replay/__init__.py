"""A step or a share, computed anew from the order and the log, and its leaf."""
