"""Grids of simulations, on one machine or on a cluster."""
