"""The errors of evalstore, by what the caller can do about them.

EvalstoreError              anything a user can fix; ends a command with `exit_code`
├── BadInput              a file, query or argument cannot be used
├── CheckFailed           the command worked, but what it checked failed
├── ModelsUnavailable     every model of a run failed too often to be called again
├── BudgetSpent           the cost limit of a run leaves no room for its next call
├── Interrupted           a run was stopped by Ctrl-C or SIGTERM
├── OutOfMemory           a query needs more memory than it may take
├── StoreDamaged          a file of the store has changed since it was written
├── StoreBusy             another program holds the warehouse file
├── StoreReadOnly         the store cannot be written
├── StoreUnreadable       a folder of the store cannot be read
├── StoreNewer            a newer version of evalstore wrote the store
└── UnknownColumn         a row has a key that its table has no column for
"""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class ExitCode(IntEnum):
    """How a command ended, for scripts; `docs/commands.md` has the table."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Self:
        """Make a member that knows what it means to the user."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    DONE = 0, "done"
    FAILED = 1, "a check or gate failed, something was left out, or nothing was answered or judged"
    BAD_INPUT = 2, "misuse or bad input: a file is not there, is in conflict or in quarantine"
    INCONCLUSIVE = 3, "inconclusive (`gate`)"
    BUDGET_SPENT = 4, "the cost limit was reached (`run`)"
    BUG = 70, "a bug: the message names a crash report, which has secrets masked"
    BUSY = 75, "the store is busy: try again later"
    INTERRUPTED = 130, "stopped by Ctrl-C"


class EvalstoreError(Exception):
    """An error whose message says what is wrong, where, and what to do."""

    exit_code = ExitCode.BAD_INPUT


class BadInput(EvalstoreError):
    """A file, query or argument cannot be used."""


class CheckFailed(EvalstoreError):
    """A check found something wrong."""

    exit_code = ExitCode.FAILED


class ModelsUnavailable(EvalstoreError):
    """Every model of a run failed too often to be called again."""

    exit_code = ExitCode.FAILED


class BudgetSpent(EvalstoreError):
    """The next call of a run would probably exceed its cost limit."""

    exit_code = ExitCode.BUDGET_SPENT


class Interrupted(EvalstoreError):
    """The user stopped a run; what it has done is safe."""

    exit_code = ExitCode.INTERRUPTED


class OutOfMemory(EvalstoreError):
    """A query needs more memory than there is, or than it may take."""


class StoreDamaged(EvalstoreError):
    """A file of the store has changed since it was written."""


class StoreBusy(EvalstoreError):
    """Another program holds the warehouse file open."""

    exit_code = ExitCode.BUSY


class StoreReadOnly(EvalstoreError):
    """The store cannot be written."""


class StoreUnreadable(EvalstoreError):
    """A folder of the store cannot be read; it must not be taken for an empty one."""


class StoreUnreachable(EvalstoreError):
    """The object store that holds the lake cannot be reached, or refuses."""


class StoreNewer(EvalstoreError):
    """A newer version of evalstore wrote batches of the store."""


class UnknownColumn(EvalstoreError):
    """A row has a key that its table has no column for: misspelt, or not yet in the schema."""
