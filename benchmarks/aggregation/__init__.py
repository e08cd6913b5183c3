"""Rules of aggregation against attacks: what a network learns when some of a step's shares lie."""
