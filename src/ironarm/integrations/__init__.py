"""Robust choices inside other people's software; each file needs its own extra."""
