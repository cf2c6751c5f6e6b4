"""What every page begins with: the title of the site, and the date of its newest run."""

import pytest
from openclaw_cases import CONFIG, line, write_run
from support import import_into

DAY_MS = 86_400_000
NEWEST = "newest run 2026-02-15"


def ran(store, folder, day):
    """Import a run of the given day after 2026-02-14."""
    run_id = f"day{day}"
    fields = {"run_id": run_id, "started_at_ms": 1771027248569 + day * DAY_MS}
    run = write_run(folder / run_id, line(**fields), config={**CONFIG, "run_id": run_id})
    import_into(store, run)


def pages(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*.html")
    }


@pytest.mark.campaign
def test_every_page_names_the_site_and_its_newest_run(cli, store, tmp_path):
    for day in (1, 0):
        ran(store, tmp_path / "runs", day)
    assert cli("report", "--to", tmp_path / "site").code == 0
    name = f'<b dir="auto">{store.path.name}</b> · {NEWEST}</p>'
    written = pages(tmp_path / "site")
    assert {"index.html", "audit.html", "runs/index.html", "samples/index.html"} < set(written)
    assert [path for path, text in written.items() if name not in text] == []
    # What is chosen is named alike, and has a newest run of its own.
    chosen = ("--title", "Nightly <tours>", "--as-of", "2026-02-14")
    assert cli("report", "--to", tmp_path / "chosen", *chosen).code == 0
    name = '<b dir="auto">Nightly &lt;tours&gt;</b> · newest run 2026-02-14</p>'
    assert [path for path, text in pages(tmp_path / "chosen").items() if name not in text] == []


@pytest.mark.slow
def test_a_store_without_dates_says_none(cli, store, tmp_path):
    assert cli("report", "--to", tmp_path / "site", "--samples", "none").code == 0
    assert f'<p><b dir="auto">{store.path.name}</b></p>' in pages(tmp_path / "site")["index.html"]
