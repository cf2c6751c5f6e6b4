"""The errors of evalstore, by what the caller can do about them.

EvalstoreError              anything a user can fix; ends a command with `exit_code`
├── BadInput              a file, query or argument cannot be used
├── CheckFailed           the command worked, but what it checked failed (exit code 1)
├── OutOfMemory           a query needs more memory than it may take
├── StoreDamaged          a file of the store has changed since it was written
├── StoreBusy             another program holds the warehouse file
├── StoreReadOnly         the store cannot be written
├── StoreUnreadable       a folder of the store cannot be read
├── StoreNewer            a newer version of evalstore wrote the store
└── UnknownColumn         a row has a key that its table has no column for
"""


class EvalstoreError(Exception):
    """An error whose message says what is wrong, where, and what to do."""

    exit_code = 2


class BadInput(EvalstoreError):
    """A file, query or argument cannot be used."""


class CheckFailed(EvalstoreError):
    """A check found something wrong."""

    exit_code = 1


class OutOfMemory(EvalstoreError):
    """A query needs more memory than there is, or than it may take."""


class StoreDamaged(EvalstoreError):
    """A file of the store has changed since it was written."""


class StoreBusy(EvalstoreError):
    """Another program holds the warehouse file open."""


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
