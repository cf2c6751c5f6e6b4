"""A campaign that takes the rights to one file or folder after the other from every command.

    python -m tests.campaigns.rights [--paths N] [--seed S] [--verbose]

A command must end with a message, never with a traceback, and must not take what it cannot read for
empty or absent. Once the rights are restored, the store is sound and has what it had.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.campaigns.attacked_store import AttackedStore
from tests.support import ROOT, as_unprivileged

_NOTHING, _ONLY_READING = 0o000, 0o444


class Campaign:
    """A store and the files that users write, without the rights to some of them.

    Attributes:
        verbose: whether to print how every command ended.
        n_tried: number of commands.
        n_bugs: number of commands that ended in a way they must not.
    """

    def __init__(self, folder: Path, *, verbose: bool = False) -> None:
        self.verbose = verbose
        self.n_tried = self.n_bugs = 0
        self._attacked = AttackedStore(folder)

    def paths(self) -> list[Path]:
        """Return every file and folder of the store and the inputs."""
        tops = (self._attacked.store, self._attacked.inputs)
        return [path for top in tops for path in (top, *sorted(top.rglob("*")))]

    def take_rights(self, path: Path, mode: int) -> None:
        """Run every command without the rights to a path; print the bugs."""
        attacked = self._attacked
        for arguments in attacked.commands():
            attacked.restore()
            before = path.stat().st_mode
            path.chmod(mode | (0o111 if mode and path.is_dir() else 0))
            code, out, err, bug = attacked.run(*arguments)
            with suppress(FileNotFoundError):
                path.chmod(before)
            self.n_tried += 1
            bug = bug or attacked.hidden_loss(arguments, code, out, err)
            if not bug and path.is_relative_to(attacked.store):
                bug = attacked.lasting_loss(arguments)
            shown = f"{path.relative_to(attacked.folder)} {mode:o}: {' '.join(map(str, arguments))}"
            if bug:
                self.n_bugs += 1
                print(f"BUG {shown}\n{bug}\n{err[-1500:]}", flush=True)
            elif self.verbose:
                print(f"{shown}\n  {code} {err[-300:]}", flush=True)


def main() -> None:
    """Take the rights to each path in turn, or to some chosen at random."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paths", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--is-unprivileged", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if not asked.is_unprivileged:
        # Root ignores permissions until a new program starts without that right.
        command = [sys.executable, "-m", "tests.campaigns.rights", *sys.argv[1:]]
        done = subprocess.run(
            [*command, "--is-unprivileged"], cwd=ROOT, preexec_fn=as_unprivileged, check=False
        )
        sys.exit(done.returncode)
    with tempfile.TemporaryDirectory(prefix="rights-") as folder:
        campaign = Campaign(Path(folder), verbose=asked.verbose)
        cases = [(path, mode) for path in campaign.paths() for mode in (_NOTHING, _ONLY_READING)]
        if asked.paths is not None:
            cases = Random(asked.seed).sample(cases, min(asked.paths, len(cases)))
        for path, mode in cases:
            campaign.take_rights(path, mode)
    print(f"{campaign.n_tried} commands, {len(cases)} paths and modes; {campaign.n_bugs} bugs")
    sys.exit(campaign.n_bugs > 0)


if __name__ == "__main__":
    main()
