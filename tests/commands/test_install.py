"""The environment is made by uv where it can be had, otherwise by pip, with pip's settings."""

import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from support import ROOT

FAKE_UV = """#!/bin/sh
env | grep -E '^(UV_|SSL_|ALL_PROXY)' > uv-environment.txt
echo "$@" > uv-options.txt
exit CODE
"""


def write_wheel(folder, name, version, files):
    """Write a wheel with some files."""
    info = f"{name}-{version}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files = files | {f"{info}/WHEEL": wheel, f"{info}/METADATA": metadata}
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            (folder / "member").write_text(text)
            (folder / "member").chmod(0o755)
            archive.write(folder / "member", path)
        record = f"{info}/RECORD"
        archive.writestr(record, "".join(f"{path},,\n" for path in [*files, record]))


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with an empty environment, where a package `toy` and nothing else can be had."""
    write_wheel(tmp_path / "wheels", "toy", "1", {"toy.py": ""})
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "SSL_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "pip.conf").write_text(f"[global]\nno-index = true\nfind-links = {tmp_path}/wheels")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    (tmp_path / "bin").mkdir()
    (tmp_path / "requirements-dev.lock").touch()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "environment"], check=True)
    return tmp_path


def put_uv_on_the_path(folder, code):
    (folder / "bin" / "uv").write_text(FAKE_UV.replace("CODE", str(code)))
    (folder / "bin" / "uv").chmod(0o755)


def install_toy():
    base = sys._base_executable  # that of the tests may have no pip
    words = [base, "-m", "tools.install", "environment", "--no-deps", "toy==1"]
    return subprocess.run(words, check=False, capture_output=True, text=True)


def has_toy(folder):
    return bool(list((folder / "environment").glob("lib/python*/site-packages/toy.py")))


@pytest.mark.slow
def test_pip_installs_where_uv_cannot_be_had(workplace):
    ended = install_toy()
    assert ended.returncode == 0, ended.stderr
    assert "pip does it" in ended.stderr
    assert has_toy(workplace)


@pytest.mark.slow
def test_pip_installs_where_uv_fails(workplace):
    put_uv_on_the_path(workplace, 2)
    ended = install_toy()
    assert ended.returncode == 0, ended.stderr
    assert has_toy(workplace)


@pytest.mark.slow
def test_uv_on_the_path_installs_alone(workplace):
    put_uv_on_the_path(workplace, 0)
    ended = install_toy()
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not has_toy(workplace)  # this uv does nothing, and pip was not asked
    options = (workplace / "uv-options.txt").read_text().split()
    assert options[:2] == ["pip", "install"]
    assert options[-4:] == ["environment/bin/python", "--no-index", "--no-deps", "toy==1"]


@pytest.mark.slow
def test_uv_is_told_what_pip_is_configured_with(workplace, monkeypatch):
    (workplace / "pip.conf").write_text(
        "[global]\nindex-url = https://a.example/simple\ncert = /ca.pem\ntimeout = 5\n"
        "find-links =\n  /one\n  /two\n[install]\ntimeout = 70\n[freeze]\ntimeout = 9\n"
    )
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://b.example/simple https://c.example/simple")
    monkeypatch.setenv("UV_FIND_LINKS", "/of-uv")
    monkeypatch.setenv("PIP_PROXY", "http://proxy.example")
    put_uv_on_the_path(workplace, 0)
    assert install_toy().returncode == 0
    assert "--no-index" not in (workplace / "uv-options.txt").read_text()
    lines = (workplace / "uv-environment.txt").read_text().splitlines()
    told = dict(line.split("=", 1) for line in lines)
    del told["UV_BUILD_CONSTRAINT"]
    assert told == {
        "UV_DEFAULT_INDEX": "https://a.example/simple",
        "UV_INDEX": "https://b.example/simple https://c.example/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/of-uv",
        "UV_HTTP_TIMEOUT": "70",
        "SSL_CERT_FILE": "/ca.pem",
        "ALL_PROXY": "http://proxy.example",
    }


@pytest.mark.slow
def test_pip_installs_uv_in_its_own_folder(workplace):
    script = FAKE_UV.replace("CODE", "0")
    write_wheel(workplace / "wheels", "uv", "7", {"uv-7.data/scripts/uv": script})
    digest = subprocess.check_output(["sha256sum", *(workplace / "wheels").glob("uv*")], text=True)
    (workplace / "tools").mkdir()
    pin = workplace / "tools" / "uv.txt"
    pin.write_text(f"uv==7 --hash=sha256:{'0' * 64}\n")
    assert "pip does it" in install_toy().stderr  # not with another hash
    pin.write_text(f"uv==7 --hash=sha256:{digest.split()[0]}\n")
    assert install_toy().stderr == ""
    assert (workplace / "build" / "tools" / "uv" / "bin" / "uv").read_text() == script


@pytest.mark.slow
def test_the_error_of_pip_is_the_answer_where_nothing_can_be_had(workplace):
    shutil.rmtree(workplace / "wheels")
    ended = install_toy()
    assert ended.returncode == 1
    assert "toy==1" in ended.stderr


@pytest.mark.slow
def test_uv_finds_packages_where_pip_is_told_to(workplace):
    uv = shutil.which("uv") or ROOT / "build" / "tools" / "uv" / "bin" / "uv"
    if not os.access(uv, os.X_OK):
        pytest.skip("no uv on the path or in build/tools/uv")
    (workplace / "bin" / "uv").symlink_to(uv)
    ended = install_toy()
    assert (ended.returncode, ended.stderr) == (0, "")
    assert has_toy(workplace)


def test_development_adds_to_the_pins_of_evalstore_and_changes_none():
    both = {}
    for name in ("requirements.lock", "requirements-dev.lock"):
        for pin in re.findall(r"^([\w.-]+)==(\S+)", (ROOT / name).read_text("utf-8"), re.MULTILINE):
            both.setdefault(pin[0], {}).setdefault(name, set()).add(pin[1])
    assert both["duckdb"].keys() == {"requirements.lock"}
    assert both["pytest"].keys() == {"requirements-dev.lock"}
    twice = {name: pins for name, pins in both.items() if len(pins) == 2}
    for name, pins in twice.items():
        assert pins["requirements-dev.lock"] <= pins["requirements.lock"], name
