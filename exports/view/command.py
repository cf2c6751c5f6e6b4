"""`evalstore view`: the store in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from warehouse.app.console.cli import note, say
from warehouse.core.errors import BadInput

_LEAST_TOKEN = 16  # characters
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    help="Port to listen on.  [default: any free port]",
)
@click.option("--open", "is_opened", is_flag=True, help="Open it in the browser.")
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    help="Listen on another address of this machine, for other machines; needs --token.",
)
@click.option("--token", metavar="TEXT", help="Secret of the address.  [default: a random one]")
@click.option("--title", metavar="TEXT", help="Title.  [default: name of the store's folder]")
@click.option(
    "--pictures",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with the pictures of posters, by id.  [default: those that runs downloaded]",
)
@click.pass_obj
def view(
    path: Path,
    *,
    port: int,
    is_opened: bool,
    host: str,
    token: str | None,
    title: str | None,
    pictures: Path | None,
) -> None:
    """Show the store in a browser: the pages of `report` as they are now, and runs in progress.

    The server answers this machine only, at the address that it prints, until Ctrl-C. It writes
    nothing but ratings. docs/viewing.md describes what it has beyond the pages of `report`.

    \b
      evalstore view --open
      evalstore view --port 8470
    """
    from warehouse.engine.base_store import check_is_store

    check_is_store(path)
    if host not in _LOOPBACK and not token:
        raise BadInput(f"--host {host} lets other machines in: give a secret with --token")
    if token is not None and len(token) < _LEAST_TOKEN:
        raise BadInput(f"--token: give at least {_LEAST_TOKEN} characters")
    # Imported here: they take half a second.
    from secrets import token_urlsafe
    from urllib.parse import quote

    from exports.view.guard import Access
    from exports.view.server import bind, serve, server_parts, view_app
    from exports.view.store_pages import StorePages

    secret = token or token_urlsafe()
    listening = bind(host, port)
    number = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    names = {f"{each}:{number}" for each in (shown, "127.0.0.1", "localhost", "[::1]")}
    hosts = frozenset(names) if host in _LOOPBACK else frozenset()
    access = Access(token=secret, hosts=hosts, cookie=f"evalstore-{number}")
    pages = StorePages(
        path, name=title or path.absolute().name, server=server_parts, pictures=pictures
    )
    address = f"http://{shown}:{number}/?token={quote(secret)}"
    say(address)
    note("Ctrl-C ends it")
    if is_opened:
        import webbrowser

        webbrowser.open(address)
    try:
        serve(view_app(pages, access), listening)
    finally:
        pages.close()
