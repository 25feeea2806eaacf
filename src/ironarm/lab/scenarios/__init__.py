"""Router scenarios as data, what plays routers on them, and the score.

A spec (TOML) and a seed make a scenario: JSON lines that hold what every deployment
would have shown for every request. So a scenario is the same whatever a router chooses,
and a router can be written in any language. docs/scenarios.md describes the format.
"""
