"""Stands for a library that is imported for sounds, of which there are none here."""
