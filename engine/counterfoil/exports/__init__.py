"""What a verdict says and what a run recorded, in formats that others read."""
