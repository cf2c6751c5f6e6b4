import subprocess
import sys

from support import ROOT

MODULES = (
    "bootstrap",
    "bootstrap_batches",
    "posters.batches",
    "posters.meta",
)


def test_heavy_libraries_are_imported_at_the_first_call() -> None:
    imports = "; ".join(f"import warehouse.engine.scoring.{name}" for name in MODULES)
    show = "print(sorted({'numpy', 'scipy', 'duckdb'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {imports}; {show}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout == "[]\n"
