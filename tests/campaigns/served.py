"""`evalstore view` in a process of its own, for campaigns."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support import ROOT

if TYPE_CHECKING:
    import signal
    from pathlib import Path

_TOKEN = "a-token-of-this-campaign"


class ServedView:
    """A server that can be killed and started again at the same port.

    Attributes:
        port: its port.
        pid: id of its process.
        log: what it writes to standard error.
    """

    def __init__(self, store: Path) -> None:
        self._command = [sys.executable, "-m", "evalstore", "--store", str(store), "view"]
        self.log = store.with_suffix(".log")
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start it; return when it answers."""
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [*self._command, "--token", _TOKEN, "--port", str(self.port)],
                cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline().split(":")[2].split("/")[0])
        self.pid = self._process.pid

    def end(self, how: signal.Signals) -> None:
        """End it by a signal."""
        self._process.send_signal(how)
        self._process.communicate()

    @property
    def headers(self) -> dict[str, str]:
        """The headers by which its own pages send JSON."""
        return {
            "Host": f"127.0.0.1:{self.port}",
            "Cookie": f"evalstore-{self.port}={_TOKEN}",
            "Origin": f"http://127.0.0.1:{self.port}",
            "Content-Type": "application/json",
        }
