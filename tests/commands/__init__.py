"""Tests of the commands; those that are not here are tested beside what they run."""
