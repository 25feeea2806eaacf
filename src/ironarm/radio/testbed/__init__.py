"""The closed loop: config, nodes, jammer, rounds and their records."""
