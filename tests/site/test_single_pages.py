"""The pages that are one file each, in a real browser."""

import pytest
from browser import needs_browser
from support import EXAMPLES, ROOT, command, import_into, new_store

pytestmark = [pytest.mark.slow, needs_browser]

POSTER_RUN = "20260405-090000-first-try"
MAKERS = {
    "check": ("check", "--html", "{page}"),
    "chart": ("plot", "leaderboard", "--to", "{page}"),
    "heat map": ("plot", "heatmap", "--to", "{page}"),
    "posters": ("export", "posters", "--run", POSTER_RUN, "--html", "--to", "{folder}"),
    "table": ("show", "leaderboard", "--format", "html"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a folder for each page."""
    root = tmp_path_factory.mktemp("pages")
    store = new_store(root / "store")
    import_into(store, EXAMPLES, ROOT / "examples" / "posters", ROOT / "examples" / "openclaw")
    for name, words in MAKERS.items():
        target = root / name
        target.mkdir()
        filled = [w.format(page=target / "page.html", folder=target) for w in words]
        ended = command(store.path, *filled)
        if not list(target.glob("*.html")):
            (target / "page.html").write_text(ended.out, "utf-8")
    return root


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("name", MAKERS)
def test_a_page_works_from_the_disk(visit, folder, name, width, scheme):
    window = visit(folder / name, width=width, scheme=scheme)
    (path,) = (folder / name).glob("*.html")
    page = window.open(path.name)
    assert page.title()
    assert window.overflow() == 0
    window.unfold()
    assert window.severe() == []
