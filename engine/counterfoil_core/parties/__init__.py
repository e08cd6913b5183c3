"""Who signed an order, its acceptance and a run: signatures, published tree heads, rounds of a public beacon."""
