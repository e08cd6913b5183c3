"""Several runs of one order: two by the referee, any number by the panel."""
