"""Small changes of Python and SQL that a test should notice: see `tools.mutants`.

Comparisons, arithmetic, `and` and `or`, conditions, numbers, true and false are changed; strings,
comments, type hints and decorators are not.
"""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMPARISONS = {b"<": b"<=", b"<=": b"<", b">": b">=", b">=": b">"}
_ARITHMETIC = {
    b"+": b"-", b"-": b"+", b"*": b"/", b"/": b"*", b"//": b"*", b"%": b"*", b"**": b"*",
}  # fmt: skip
_PYTHON = _COMPARISONS | _ARITHMETIC | {
    b"==": b"!=", b"!=": b"==", b"is": b"is not", b"is not": b"is", b"in": b"not in",
    b"not in": b"in", b"and": b"or", b"or": b"and", b"&": b"|", b"|": b"&", b"|=": b"&=",
    **{old + b"=": new + b"=" for old, new in _ARITHMETIC.items()},
}  # fmt: skip
_SQL = _COMPARISONS | _ARITHMETIC | {
    b"=": b"<>", b"<>": b"=", b"IS": b"IS NOT", b"IS NOT": b"IS", b"AND": b"OR", b"OR": b"AND",
    b"NOT": b"", b"true": b"false", b"false": b"true",
}  # fmt: skip
# Between two operands: brackets, comments and the operator.
_GAP = re.compile(rb"(?:[\s()\\]|#.*)*(not\s+in|is\s+not|[a-z]+|[^\s\w()#]+)")
_SQL_TOKEN = re.compile(
    rb"""
    (?P<skipped> --.* | '[^']*' | "[^"]*" | ::|:=|=>|->>?|\|\| | DECIMAL\([^)]*\)
        | OR\s+REPLACE | NOT\s+MATERIALIZED )
    | (?P<operator> IS\s+NOT\b | \b(?:AND|OR|NOT|IS|true|false)\b | <=|>=|<>|\*\*|//|[-+*/%<>=] )
    | (?P<number> \b\d+(?:\.\d+)?(?:e-?\d+)?\b )
    | \w+ | \S
    """,
    re.VERBOSE,
)
_ALL_COLUMNS = re.compile(rb"[A-Z]+|[.,(]")


class Edit(NamedTuple):
    """Part of a source, by its offsets in bytes, and what takes its place."""

    start: int
    end: int
    new: bytes


def python_edits(source: bytes) -> list[Edit]:
    """Return the edits of a module.

    Raises:
        SyntaxError: it is not valid Python.
    """
    lines = [0, *(match.end() for match in re.finditer(b"\n", source))]

    def span(node: ast.expr) -> tuple[int, int]:
        end_line, end_column = node.end_lineno or 0, node.end_col_offset or 0
        return lines[node.lineno - 1] + node.col_offset, lines[end_line - 1] + end_column

    found = []
    for node in _active_nodes(ast.parse(source)):
        for left, right in _operands(node):
            gap = _GAP.match(source, span(left)[1], span(right)[0])
            operator = b" ".join(gap[1].split()) if gap else b""
            if gap and (new := _PYTHON.get(operator)):
                found.append(Edit(*gap.span(1), new))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            start, _ = span(node)
            found.append(Edit(start, start + len(b"not"), b""))
        if isinstance(node, ast.Constant) and (new := _other_number(node.value)):
            found.append(Edit(*span(node), new))
        for condition in _plain_conditions(node):
            start, end = span(condition)
            found.append(Edit(start, end, b"(not (" + source[start:end] + b"))"))
    return found


def _active_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it that are no type hints, decorators or messages."""
    yield node
    for name, field in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST) and not _is_passive(child):
                yield from _active_nodes(child)


def _is_passive(node: ast.AST) -> bool:
    match node:
        # Python 3.11 has no places of what is in an f-string.
        case ast.JoinedStr() | ast.If(test=ast.Name("TYPE_CHECKING")) | ast.keyword("strict"):
            return True
        # An alias of a type.
        case ast.Assign(value=ast.BinOp(op=ast.BitOr())) | ast.AnnAssign(value=None):
            return True
    return False


def _operands(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """Return the pairs between which the node has an operator."""
    match node:
        case ast.BoolOp(values=values):
            return list(pairwise(values))
        case ast.Compare(left=left, comparators=others):
            return list(pairwise([left, *others]))
        case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
            return [(left, right)]
    return []


def _plain_conditions(node: ast.AST) -> list[ast.expr]:
    """Return the conditions of a node that have no operator of their own."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            tests = [test]
        case ast.comprehension(ifs=tests):
            pass
        case _:
            return []
    return [test for test in tests if isinstance(test, ast.Name | ast.Attribute | ast.Call)]


def _other_number(value: object) -> bytes | None:
    """Return another one: the opposite of a truth value, one more, or half of a fraction."""
    match value:
        case bool():
            return str(not value).encode()
        case int():
            return str(value + 1).encode()
        case float():
            return repr(value / 2 or 1.0).encode()
    return None


def sql_edits(source: bytes) -> list[Edit]:
    """Return the edits of a SQL file."""
    found = []
    before, n_ranges = b"(", 0
    for token in _SQL_TOKEN.finditer(source):
        text = b" ".join(token[0].split())
        if text.startswith(b"--"):
            continue
        n_ranges += text == b"BETWEEN"
        if token["number"]:
            value = float(text) if set(b".e") & set(text) else int(text)
            found.append(Edit(*token.span(), _other_number(value) or b""))
        elif text == b"AND" and n_ranges:
            n_ranges -= 1
        elif token["operator"] and not (text == b"*" and _ALL_COLUMNS.fullmatch(before)):
            found.append(Edit(*token.span(), _SQL[text]))
        before = text
    return found
