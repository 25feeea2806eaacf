"""Nodes as processes of their own, over ZeroMQ."""
