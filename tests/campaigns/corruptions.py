"""A campaign that damages one file of the store after the other, and looks with every command.

    python -m tests.campaigns.corruptions [--damages N] [--seed S] [--verbose]

A command must end with a message, never with a traceback, and must not show less than there was
without saying so; `info --verify` finds every damage that a checksum covers. Once the file is as it
was, so are the rows.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.campaigns.attacked_store import AttackedStore
from tests.campaigns.mutating import damaged

if TYPE_CHECKING:
    from collections.abc import Callable

_SECONDS = 600  # a command that takes longer is considered to hang
_COMMANDS_EACH = 2


class Campaign:
    """A store of which one file is damaged at a time.

    Attributes:
        verbose: whether to print how every command ended.
        damages: number of damages by how the file was damaged.
        n_commands: number of commands.
        n_bugs: number of commands that ended in a way they must not.
    """

    def __init__(self, folder: Path, choice: Random, *, verbose: bool = False) -> None:
        self.verbose = verbose
        self.damages: Counter[str] = Counter()
        self.n_commands = self.n_bugs = 0
        self._choice = choice
        self._attacked = AttackedStore(folder)
        self._files = [path for path in sorted(self._attacked.store.rglob("*")) if path.is_file()]

    def strike(self) -> None:
        """Damage a file, and run some commands; print the bugs."""
        attacked, choice = self._attacked, self._choice
        path, way = choice.choice(self._files), choice.choice(list(_WAYS))
        others = choice.sample(list(attacked.commands()), _COMMANDS_EACH)
        self.damages[way] += 1
        before = choice.getstate()
        for arguments in (("info", "--verify"), attacked.query, *others):
            attacked.restore()
            choice.setstate(before)
            _WAYS[way](path, choice)
            shown = f"{path.relative_to(attacked.folder)} {way}: {' '.join(map(str, arguments))}"
            signal.alarm(_SECONDS)
            code, out, err, bug = attacked.run(*arguments)
            signal.alarm(0)
            bug = bug or self._wrong(path, arguments, code, out, err)
            self.n_commands += 1
            if bug:
                self.n_bugs += 1
                print(f"BUG {shown}\n{bug}\n{out[-500:]}{err[-1500:]}", flush=True)
            elif self.verbose:
                print(f"{shown}\n  {code} {err[-300:]}", flush=True)

    def _wrong(
        self, path: Path, arguments: tuple[str | Path, ...], code: int, out: str, err: str
    ) -> str:
        """Return what is wrong after a command."""
        attacked = self._attacked
        area = path.relative_to(attacked.store).parts[0]
        # Text that was changed in a journal, which has no checksums, may still be valid.
        if area == "journals":
            return ""
        if bug := attacked.hidden_loss(arguments, code, out, err):
            return bug
        is_checked = area == "lake" and path.suffix == ".parquet"
        if arguments == ("info", "--verify") and is_checked and code == 0:
            is_same = path.is_file() and path.read_bytes() == attacked.original(path)
            return "" if is_same else "the damage was not found"
        if path.parent.is_dir():
            _remove(path)
            # The warehouse is built again from the lake; any other file is restored from a copy.
            if not path.name.startswith("warehouse.duckdb"):
                path.write_bytes(attacked.original(path))
        return attacked.lasting_loss(arguments)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _damage(path: Path, choice: Random) -> None:
    path.write_bytes(damaged(path.read_bytes(), choice))


def _flip_bits(path: Path, choice: Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(choice.choice((1, 1, 20))):
        if data:
            data[choice.randrange(len(data))] ^= 1 << choice.randrange(8)
    path.write_bytes(data)


def _truncate(path: Path, choice: Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: choice.randrange(len(data) + 1)])


def _fill_with_zeros(path: Path, choice: Random) -> None:
    data = path.read_bytes()
    start = choice.randrange(len(data) + 1)
    path.write_bytes(data[:start] + bytes(len(data) - start))


def _replace_by_another(path: Path, choice: Random) -> None:
    others = [other for other in path.parents[1].rglob("*") if other.is_file() and other != path]
    shutil.copyfile(choice.choice(sorted(others)), path)


def _remove_file(path: Path, _: Random) -> None:
    path.unlink()


def _replace_by_folder(path: Path, _: Random) -> None:
    path.unlink()
    path.mkdir()


def _replace_by_link(path: Path, choice: Random) -> None:
    path.unlink()
    path.symlink_to(choice.choice((path, Path("nowhere"), Path("/dev/null"), Path("/dev/zero"))))


_WAYS: dict[str, Callable[[Path, Random], None]] = {
    "damaged": _damage,
    "bits flipped": _flip_bits,
    "truncated": _truncate,
    "filled with zeros": _fill_with_zeros,
    "replaced by another": _replace_by_another,
    "removed": _remove_file,
    "replaced by a folder": _replace_by_folder,
    "replaced by a link": _replace_by_link,
}


def main() -> None:
    """Run the campaign, and print how often each damage was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--damages", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="corruptions-") as folder:
        campaign = Campaign(Path(folder), Random(asked.seed), verbose=asked.verbose)
        for _ in range(asked.damages):
            campaign.strike()
    counts = ", ".join(f"{way} {n}" for way, n in sorted(campaign.damages.items()))
    print(f"{asked.damages} damages, seed {asked.seed}, {campaign.n_commands} commands: {counts}")
    print(f"{campaign.n_bugs} bugs")
    sys.exit(campaign.n_bugs > 0)


if __name__ == "__main__":
    main()
