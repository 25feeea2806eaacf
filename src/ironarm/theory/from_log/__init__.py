"""What the rewards in a log say: which arm is best, and what they can take."""
