"""Where the folders that ship with evalstore are: beside the packages, never by import.

A checkout and an installed wheel have the same layout, and a user's own `models/` or `tasks/`
cannot shadow ours, because no package of that name is ever imported.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SQL = ROOT / "sql"
TASKS = ROOT / "tasks"
MODELS = ROOT / "models"
EXPECTATIONS = SQL / "expectations"
SCORING = ROOT / "warehouse" / "scoring"
