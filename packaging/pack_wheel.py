"""Packs the static program as a wheel, so that `pip install seekwell-cli` puts it on the PATH.

Arguments: version, summary, architecture, folder with bin and share, folder to write to.
"""

import sys
from pathlib import Path

from wheel.wheelfile import WheelFile

version, summary, arch, usr, out = sys.argv[1:]
name = f"seekwell_cli-{version}"
# A static program runs wherever the kernel does, with either C library.
platform = f"manylinux_2_17_{arch}.manylinux2014_{arch}.musllinux_1_1_{arch}"
root = Path(__file__).parent.parent

metadata = f"""Metadata-Version: 2.1
Name: seekwell-cli
Version: {version}
Summary: {summary}
License: MIT OR Apache-2.0
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{(root / "README.md").read_text()}"""

tags = "".join(f"Tag: py3-none-{tag}\n" for tag in platform.split("."))
wheel = f"Wheel-Version: 1.0\nGenerator: seekwell\nRoot-Is-Purelib: false\n{tags}"

with WheelFile(Path(out) / f"{name}-py3-none-{platform}.whl", "w") as file:
    # WheelFile keeps the mode of what it is given by path.
    file.write(f"{usr}/bin/seekwell", f"{name}.data/scripts/seekwell")
    for trace in sorted(Path(usr, "share/seekwell/traces").iterdir()):
        file.write(str(trace), f"{name}.data/data/share/seekwell/traces/{trace.name}")
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        file.write(str(root / licence), f"{name}.dist-info/licenses/{licence}")
    file.writestr(f"{name}.dist-info/METADATA", metadata)
    file.writestr(f"{name}.dist-info/WHEEL", wheel)
