"""The arena: every policy against every attack, in several settings, and who comes
closest to what is possible.
"""
