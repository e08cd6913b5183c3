"""Files that lie elsewhere: named by an address, and read in pieces over a network."""
