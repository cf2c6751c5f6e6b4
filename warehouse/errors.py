"""What can go wrong, by what the caller can do about it.

EvalstoreError              anything that a person can mend; ends a command with `exit_code`
├── BadInput              a file, a query or an argument cannot be used
├── CheckFailed           the work was done, and what it found is not good (exit code 1)
├── StoreDamaged          a file of the store is not what it was when it was written
├── StoreBusy             another program holds the warehouse file
├── StoreReadOnly         the store cannot be written
├── StoreNewer            the store was written by a newer version of evalstore
└── UnknownColumn         a reader, suite or exporter used a column that its table lacks
"""


class EvalstoreError(Exception):
    """A failure with a message for people: what is wrong, where, and what to do."""

    exit_code = 2


class BadInput(EvalstoreError):
    """A file, a query or an argument that cannot be used."""


class CheckFailed(EvalstoreError):
    """Something was checked and did not hold."""

    exit_code = 1


class StoreDamaged(EvalstoreError):
    """A file of the store does not have the content that it was written with."""


class StoreBusy(EvalstoreError):
    """Another program holds the warehouse file open."""


class StoreReadOnly(EvalstoreError):
    """The store cannot be written."""


class StoreNewer(EvalstoreError):
    """The store holds batches of a newer version of evalstore."""


class UnknownColumn(EvalstoreError):
    """A row has a key that its table has no column for: a misspelt name, or a missing column."""
