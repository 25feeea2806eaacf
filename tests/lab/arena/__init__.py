"""Tests of ironarm.lab.arena: one small arena, from its file to its page."""
