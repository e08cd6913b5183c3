"""How processes of this program speak: one framing, messages read by declared types, ports of functions, one table."""
