"""What devices that train together tell each other: integers, whose sums are the same in any order."""
