"""Install packages in an environment: `python -m tools.install FOLDER OPTION...`, in the root.

The options are those of `pip install` that uv has, too. uv, which is ten times faster, is taken
from the PATH, or installed by pip in build/tools/uv. Where it cannot be had, or fails, pip does it.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

PIP = (sys.executable, "-m", "pip")
UV_FOLDER = Path("build/tools/uv")
UV_PIN = Path("tools/uv.txt")
# Pins of what builds the package itself.
BUILD_PINS = "requirements-dev.lock"

# uv reads no settings of pip. These say where packages come from: for each, the variable that tells
# uv the same, and what separates several values in it.
VARIABLES = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "client-cert": ("SSL_CLIENT_CERT", " "),
    "proxy": ("ALL_PROXY", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
}


def pip_settings() -> dict[str, str]:
    """Return what pip is configured with for `pip install`, in files and the environment."""
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, check=False, text=True)  # noqa: S603
    sections: dict[str, dict[str, str]] = {"global": {}, "install": {}, ":env:": {}}
    for line in listed.stdout.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.partition(".")
        if section in sections:
            sections[section][name] = ast.literal_eval(value)
    return sections["global"] | sections["install"] | sections[":env:"]


def uv_words(settings: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the options and the environment that give uv some settings of pip.

    What the environment says to uv itself comes first. As in pip, all indexes count the same.
    """
    told = {
        variable: separator.join(settings[name].split())
        for name, (variable, separator) in VARIABLES.items()
        if name in settings
    }
    told |= {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_BUILD_CONSTRAINT": BUILD_PINS}
    no_index = settings.get("no-index", "").lower() in {"1", "true", "yes", "on", "y", "t"}
    return ["--no-index"] if no_index else [], told | os.environ


def find_uv() -> str | None:
    """Return the path of uv, which pip installs in its folder if it is not there; None without."""
    own = UV_FOLDER / "bin" / "uv"
    found = shutil.which("uv") or shutil.which(own)
    if found:
        return found
    options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", UV_PIN]
    words = [*PIP, "install", "--target", UV_FOLDER, "--upgrade", *options]
    subprocess.run(words, capture_output=True, check=False)  # noqa: S603
    return shutil.which(own)


def install_with_uv(folder: str, options: list[str]) -> bool:
    """Return whether uv could be had and did the work; its errors are printed."""
    uv = find_uv()
    if uv is None:
        return False
    more, environment = uv_words(pip_settings())
    words = [uv, "pip", "install", "--quiet", "--python", f"{folder}/bin/python", *more, *options]
    return subprocess.run(words, check=False, env=environment).returncode == 0  # noqa: S603


def main() -> None:
    """Install what the options say; exit with pip's code if neither uv nor pip can."""
    folder, *options = sys.argv[1:]
    if install_with_uv(folder, options):
        return
    sys.stderr.write("uv cannot do this here: pip does it, which takes longer\n")
    words = [*PIP, "--python", folder, "install", "--quiet", *options]
    sys.exit(subprocess.run(words, check=False).returncode)  # noqa: S603


if __name__ == "__main__":
    main()
