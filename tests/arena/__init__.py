"""Tests of ironarm.arena: one small arena, from its file to its page."""
