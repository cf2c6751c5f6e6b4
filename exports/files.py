"""Writes files whole or not at all: `warehouse.whole_files`, under the name of this folder."""

from warehouse.whole_files import write_lines, write_whole

__all__ = ["write_lines", "write_whole"]
