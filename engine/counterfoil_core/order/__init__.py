"""An order that was admitted: its programs, its data and rows, and the records of its shares."""
