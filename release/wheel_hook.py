"""What hatch calls when it builds a wheel: shall machine code come with it?

`make dist` asks for it (IRONARM_WHEEL=platform): that wheel is for one kind of system.
Any other build, such as `pip install .`, makes a wheel for all, without machine code.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# the folder of machine code, and the tag of its systems: any x86-64 of the last fifteen
# years. The objects ask for no version of the C library, but NumPy's wheels do
PLATFORMS = {"linux-x86_64": "manylinux_2_28_x86_64"}
SHIPPED = Path("src/ironarm/engine/shipped")


class WheelHook(BuildHookInterface[Any]):
    """Adds the machine code, and says for which system the wheel is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Change what is built, before it is."""
        if self.target_name != "wheel" or os.environ.get("IRONARM_WHEEL") != "platform":
            return
        folders = {path.parent.name for path in Path(self.root, SHIPPED).glob("*/*.json")}
        name = next((name for name in PLATFORMS if name in folders), None)
        if name is None:
            raise RuntimeError(f"no machine code in {SHIPPED}; run: make objects")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{PLATFORMS[name]}"
        build_data["force_include"][str(SHIPPED / name)] = f"ironarm/engine/shipped/{name}"
