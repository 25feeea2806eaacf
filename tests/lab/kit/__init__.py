"""Tests of ironarm.lab.kit; what is not here is tested through studies and arena."""
