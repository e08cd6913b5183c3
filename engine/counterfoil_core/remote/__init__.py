"""Files that lie elsewhere: their addresses, and the ranges that are read of them. What fetches them is elsewhere."""
