"""The arena: every policy against every attack, in several settings."""
