"""Radios without hardware that speak the protocol of a Red Pitaya."""
