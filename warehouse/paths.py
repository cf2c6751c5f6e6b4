"""Paths of the data folders that ship with evalstore, next to its packages.

A checkout and an installed wheel have the same layout. The folders are found by path and never
imported, so that a user's own `models/` or `tasks/` cannot hide ours.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SQL = ROOT / "sql"
TASKS = ROOT / "tasks"
MODELS = ROOT / "models"
EXPECTATIONS = SQL / "expectations"
SCORING = ROOT / "warehouse" / "scoring"
