"""The physical layer: waveform, medium, receiver, and the same chain compiled."""
