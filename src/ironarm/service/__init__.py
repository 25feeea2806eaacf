"""Agents behind HTTP: `ironarm serve`.

A node follows the logs of its agents in a store that other nodes may share. `writer`
lets many requests share a commit, `hosted` is one agent, `app` the HTTP interface.
"""
