"""Tests of ironarm.policies."""
