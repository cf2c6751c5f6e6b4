"""Rows as commands show them, and text that attacks a terminal or a browser."""

import io
import re

from warehouse.app.output.writers import write_rows

HOSTILE = "\x1b[31mred\x1b[0m\r\x07\x9b2J \u202e\u2066\u200b | <script>`x`</script>\n[a](b:c)"
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def rendered(columns, rows, fmt, out=None, notes=None):
    """Return rows in a format as text, as written to `out` if it is given."""
    out = out or io.BytesIO()
    write_rows(columns, rows, fmt, out, note=[].append if notes is None else notes.append)
    return out.getvalue().decode()
