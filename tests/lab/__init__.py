"""Tests of ironarm.lab."""
