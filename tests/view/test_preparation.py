"""What pages need is imported after the first answer, which does not wait for it."""

import asyncio
import subprocess
import sys
from threading import Event

import httpx
import pytest
import uvicorn
from support import ROOT

from exports.view import server

ORIGIN = "http://127.0.0.1:8000"
_IMPORTED = """
import sys
import exports.view.server, exports.view.store_pages
from exports.view.preparation import prepare
draws = {"altair", "scipy", "vl_convert"}
print(sorted(draws & set(sys.modules)))
prepare()
print(sorted(draws & set(sys.modules)))
"""


@pytest.mark.slow
def test_what_draws_is_imported_when_the_server_has_begun():
    ended = subprocess.run(
        [sys.executable, "-c", _IMPORTED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[]\n['altair', 'scipy', 'vl_convert']\n"


@pytest.mark.slow
def test_preparation_ends_with_the_server():
    code = (
        "import sys\n"
        "from exports.view import preparation\n"
        "preparation.import_module = lambda name: [print(name), preparation.end_preparation()]\n"
        "preparation.prepare()\n"
        "print(sorted({'altair', 'vl_convert'} & set(sys.modules)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "scipy.special\n[]\n"


def test_a_signal_ends_preparation(monkeypatch):
    ended = Event()
    monkeypatch.setattr(server, "end_preparation", ended.set)
    server._Server(uvicorn.Config(None)).handle_exit(2, None)
    assert ended.is_set()


@pytest.mark.slow
def test_it_is_prepared_after_the_first_answer(store, browse, monkeypatch):
    begun = Event()
    monkeypatch.setattr(server, "prepare", begun.set)
    app = httpx.ASGITransport(browse(store).app)

    async def ask():
        async with httpx.AsyncClient(transport=app, base_url=ORIGIN, cookies={"c": "t"}) as client:
            assert not begun.is_set()
            answer = await client.get("/")
            return answer.status_code, await asyncio.to_thread(begun.wait, 20)

    assert asyncio.run(ask()) == (200, True)


def test_nothing_is_prepared_or_said_at_the_end(store, browse, monkeypatch):
    faults = []
    monkeypatch.setattr(server, "_LOADED_SECONDS", 0.05)
    app = httpx.ASGITransport(browse(store).app)

    async def ask_and_end():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: faults.append(context))
        async with httpx.AsyncClient(transport=app, base_url=ORIGIN, cookies={"c": "t"}) as client:
            await client.get("/assets/site.css")
        await loop.shutdown_default_executor()
        await asyncio.sleep(0.2)

    asyncio.run(ask_and_end())
    assert faults == []
