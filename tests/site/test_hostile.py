"""A site of a store with hostile text in every field, in a real browser: nothing runs."""

import re

import pytest
from browser import needs_browser
from rendering import HOSTILE
from support import new_store

from exports.site.report import write_site

pytestmark = [pytest.mark.slow, needs_browser]

ATTACKS = (
    "<script>window.hit = 1</script>",
    "</script><script>window.hit = 1</script>",
    '"><img src=x onerror="window.hit = 1">',
    "<svg onload=window.hit=1>",
    "javascript:window.hit=1",
    "' onfocus='window.hit=1' autofocus='",
    "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    "]]><style>* { display: none }</style>",
    "\u2028</textarea><iframe src=javascript:window.hit=1>",
    f"{HOSTILE}<base href=//evil.example>",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site."""
    root = tmp_path_factory.mktemp("hostile")
    store = new_store(root / "store")
    for n, model in enumerate(ATTACKS[:4]):
        run = store.record(
            suite=ATTACKS[4],
            task_set=ATTACKS[5],
            model=model,
            settings={ATTACKS[6]: ATTACKS[7]},
            config={ATTACKS[8]: ATTACKS[9]},
            run_id=f"{n}{ATTACKS[0]}",
        )
        with run:
            for k, text in enumerate(ATTACKS):
                long = "<b>x</b>" * 1_000_000 if (n, k) == (0, 0) else text
                run.log(
                    task_id=text, prompt=text, output=long, passed=(n + k) % 3 == 0,
                    scores={text: text, "share": 0.5}, failure=None, extra={text: text},
                )  # fmt: skip
            run.log(task_id="failed", prompt="x", failure=ATTACKS[1])
    store.sync()
    write_site(store, root / "site")
    return root / "site"


def test_nothing_runs_on_any_page(visit, site):
    window = visit(site)
    names = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    assert len({name.partition("/")[0] for name in names if "/" in name}) > 3
    for name in names:
        page = window.open(name)
        window.unfold()
        assert page.evaluate("window.hit") is None, name
        assert page.locator("h1").first.is_visible(), name
        harmful = "script:not([src]), iframe, base, [onerror], [onload], [onfocus], style, [style]"
        assert page.locator(harmful).count() == 0, name
        links = page.evaluate("[...document.querySelectorAll('[href]')].map(e => e.href)")
        assert all(link.startswith(site.as_uri()) for link in links), name
        assert window.faults == [], name


def test_the_samples_can_be_read(visit, site):
    window = visit(site)
    name = min(p.relative_to(site).as_posix() for p in site.glob("samples/*/index.html"))
    for k in range(len(ATTACKS)):
        page = window.open(f"{name}#sample={k}")
        page.locator("main").filter(has_text=re.compile(".{200}", re.DOTALL)).wait_for()
        assert page.evaluate("window.hit") is None
        assert page.locator("main iframe, main script, main img, main style").count() == 0
