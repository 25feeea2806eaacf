"""The site, its figures and its tutorials: docs/make, which is not a package."""

import sys
from pathlib import Path

MAKE = Path(__file__).parent.parent.parent / "docs" / "make"
sys.path.insert(0, str(MAKE))
