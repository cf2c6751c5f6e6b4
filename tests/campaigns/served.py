"""`evalstore view` in a process of its own, for campaigns."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Self

from tests.support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

_TOKEN = "a-token-of-this-campaign"


class ServedView:
    """A server that can be killed and started again at the same port; it ends with the block.

    Attributes:
        port: its port.
        pid: id of its process.
        log: what it writes to standard error.
    """

    def __init__(self, store: Path, **environment: str) -> None:
        self._environment = {**os.environ, **environment}
        self._command = [sys.executable, "-m", "evalstore", "--store", str(store), "view"]
        self.log = store.with_suffix(".log")
        self.port = 0
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.end(signal.SIGKILL)

    def start(self) -> None:
        """Start it; return when it answers."""
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [*self._command, "--token", _TOKEN, "--port", str(self.port)],
                cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True, env=self._environment,
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
