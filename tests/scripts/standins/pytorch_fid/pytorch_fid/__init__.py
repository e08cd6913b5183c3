"""Stands for a library that compares generated images with others, which no step does."""
