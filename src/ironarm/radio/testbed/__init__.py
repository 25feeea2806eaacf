"""The closed loop: settings, nodes, jammer, rounds and their records."""
