"""How policies choose an arm from estimates, and the base classes that share it."""
