"""Tests of ironarm.engine."""
