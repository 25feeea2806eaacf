"""What the environment says about compiling, read without loading Numba.

Numba reads the same variables when it is loaded.
"""

from __future__ import annotations

import os

DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
"""Run everything as plain Python, for debuggers."""
CHECKED = os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0")
"""Let compiled code raise IndexError where it would read beyond an array."""
PUBLIC_ONLY = os.environ.get("IRONARM_PUBLIC_NUMBA") == "1"
"""Do without Numba's private options, whatever it knows: a way out, and for tests."""
UNSHIPPED = os.environ.get("IRONARM_SHIPPED") == "0"
"""Do without the machine code in the package, for tests and doubts."""
_OTHER_CODE = {
    "NUMBA_BOUNDSCHECK": CHECKED,
    "IRONARM_PUBLIC_NUMBA": PUBLIC_ONLY,
    "IRONARM_SHIPPED": UNSHIPPED,
}
ASKED = " and ".join(name for name, asks in _OTHER_CODE.items() if asks)
"""The variables that ask for other code than the package has."""
AS_SHIPPED = not (DISABLED or CHECKED or PUBLIC_ONLY or UNSHIPPED)
"""Whether the machine code in the package is what would be compiled here."""
