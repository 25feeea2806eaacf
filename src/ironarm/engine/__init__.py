"""How policies and attacks become compiled code, and where randomness comes from."""
