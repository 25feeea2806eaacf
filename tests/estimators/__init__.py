"""Tests of ironarm.estimators."""
