"""Keys, DSSE envelopes and the statements in them: who says what of which bytes."""
