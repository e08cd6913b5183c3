"""What comes of each kind of statement for each reader, where something of it no longer counts."""
