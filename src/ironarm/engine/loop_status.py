"""Why a compiled loop came back."""

DONE = 0
GROW = 1
FILL = 2
ASK = 3
BAD_ARM = 4
