import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from support import EXAMPLES, ROOT

import evalstore

OURS = {
    "evalstore.py",
    "evalstore_pytest.py",
    "evalstore-stubs",
    "evalstore_data",
    "exports",
    "ingest",
    "runners",
}
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
# Nothing of ours: what a library says at its import, during a call or at the end of the process.
FOREIGN = re.compile(r"nanobind|leaked|Traceback|Warning|WARNING|[Dd]eprecat|Give Feedback")
# One real call of each command, in a folder with the samples' store. `mcp` ends with its input.
CALLS = {
    "import": "examples",
    "init": "first",
    "run": "palindrome --model example/aurora-2 --provider replay --limit 2",
    "judge": "--help",
    "rescore": "--help",
    "models": "",
    "runs": "",
    "tag": "2024-11-04/models/example-aurora-2-1.yaml release=v1",
    "version": "palindrome 2024-11-04/models/example-aurora-2-1.yaml",
    "show": "leaderboard",
    "sql": "FROM+runs",
    "history": "example/aurora-2",
    "grep": "saippua",
    "judges": "",
    "rank": "--help",
    "horizon": "--help",
    "items": "palindrome",
    "abilities": "--help",
    "subset": "--help",
    "compare": "example/aurora-2 example/kaamos-mini",
    "plan": "example/aurora-2 example/kaamos-mini --difference 0.2",
    "gate": "--candidate example/aurora-2 --baseline example/kaamos-mini --max-drop 0.9",
    "plot": "heatmap --to heatmap.svg",
    "report": "--to site",
    "check": "",
    "export": "palindrome --to out",
    "label": "export palindrome --sample 2 --to labels.csv",
    "annotate": "list",
    "publish": "posters --help",
    "view": "--help",
    "mcp": "",
    "info": "--verify",
    "sync": "--rebuild",
    "compact": "",
    "forget": "2024-11-04/models/example-aurora-2-1.yaml --yes",
}
PROGRAM = """
import evalstore

store = evalstore.open("store")
reveal_type(store)
reveal_type(store.sql("FROM runs"))
reveal_type(store.sql("FROM runs").fetchall())
evalstore.open(7)
store.sql("FROM runs").fetch_everything()
store.sync(rebuild="yes")
with store.record(suite="mine", model="m", config={"a": 1}, settings={"t": 0.5}) as run:
    reveal_type(run)
    reveal_type(run.has("t", 2))
    run.log(task_id="t", output="x", scores={"a": 1, "b": True, "c": None}, passed=None, cost_usd=1)
    run.log(task_id=7)
    run.log(output="x")
store.record(suite="mine")
"""

TYPES = """\
note: Revealed type is "warehouse.app.store.Store"
note: Revealed type is "warehouse.app.store.PreviewedQuery"
note: Revealed type is "list[tuple[Any, ...]]"
error: Argument 1 to "open" has incompatible type "int"; expected "str | PathLike[str]"  [arg-type]
error: "PreviewedQuery" has no attribute "fetch_everything"  [attr-defined]
error: Argument "rebuild" to "sync" of "BaseStore" has incompatible type "str"; expected "bool"  [arg-type]
note: Revealed type is "warehouse.app.recording.recording.Recording"
note: Revealed type is "bool"
error: Argument "task_id" to "log" of "Recording" has incompatible type "int"; expected "str"  [arg-type]
error: Missing named argument "task_id" for "log" of "Recording"  [call-arg]
note: "log" defined in "warehouse.app.recording.recording"
error: Missing named argument "model" for "record" of "Store"  [call-arg]
note: "record" defined in "warehouse.app.store"
""".splitlines()  # noqa: E501 - as mypy prints it
# The tests' own environment has no pip.
PIP = [f"{sys.base_prefix}/bin/python3", "-m", "pip", "--python"]


def built(source, kind, folder):
    """Return the file that `hatchling build` makes of a folder."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    return next(folder.glob("*.whl" if kind == "wheel" else "*.tar.gz"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The source distribution, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(built(ROOT, "sdist", folder)) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    return next((folder / "unpacked").iterdir())


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """The wheel made from the source distribution, as `uv build` and the index's users do."""
    return built(sdist, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The programs of an environment with the wheel, and the dependencies of this one."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    rest = sysconfig.get_path("purelib")
    (packages / "rest.pth").write_text(f"import site; site.addsitedir({rest!r})\n")
    script = folder / "bin" / "evalstore"
    script.write_text(f"#!{folder}/bin/python\nfrom evalstore import main\nmain()\n")
    script.chmod(0o755)
    return folder / "bin"


def run(programs, *arguments, cwd, **options):
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    env = {k: v for k, v in os.environ.items() if not k.startswith(("EVALSTORE", "PYTHON"))}
    env = {**env, "PATH": path, **options}
    arguments = [programs / arguments[0] if arguments[0] != "sh" else "sh", *arguments[1:]]
    return subprocess.run(
        arguments, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=1_800
    )


def test_the_stub_says_what_the_module_says():
    tree = ast.parse((ROOT / "evalstore-stubs" / "__init__.pyi").read_text("utf-8"))
    stubs = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert set(stubs) == set(evalstore.__all__)
    for name, stub in stubs.items():
        source = ast.parse(inspect.getsource(getattr(evalstore, name))).body[0]
        [theirs], [ours] = source.args.args, stub.args.args
        assert ast.dump(theirs) == ast.dump(ours)
        assert ast.dump(source.returns) == ast.dump(stub.returns)


def test_the_dependencies_are_used_or_given():
    given = {"duckdb", "pyarrow", "polars", "pyyaml", "litellm", "scipy", "click"}
    given |= {"great-expectations", "mcp", "altair", "vl-convert-python"}
    modules = {"python-ulid": "ulid"}
    code = "\n".join(
        path.read_text("utf-8")
        for package in ("evalstore.py", "ingest", "runners", "exports", "warehouse")
        for path in (
            [ROOT / package] if package.endswith(".py") else (ROOT / package).rglob("*.py")
        )
    )
    for requirement in PYPROJECT["project"]["dependencies"]:
        name = re.match(r"[\w-]+", requirement)[0]
        module = modules.get(name, name)
        assert name in given or re.search(rf"^\s*(import|from) {module}\b", code, re.MULTILINE), (
            name
        )


@pytest.mark.slow
def test_the_wheel_puts_only_our_names_into_site_packages(wheel):
    names = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == OURS | {"warehouse"}


def tracked():
    """Return the files that git tracks, by their content."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = listed.stdout.decode().rstrip("\0").split("\0")
    return {name: (ROOT / name).read_bytes() for name in names if (ROOT / name).is_file()}


@pytest.mark.slow
def test_the_sdist_has_the_tracked_files(sdist):
    packed = {
        path.relative_to(sdist).as_posix(): path.read_bytes()
        for path in sdist.rglob("*")
        if path.is_file()
    }
    expected = {
        name: data for name, data in tracked().items() if not name.startswith((".ci/", ".github/"))
    }
    packed.pop("PKG-INFO")
    assert packed.keys() == expected.keys()
    assert packed == expected


@pytest.mark.slow
def test_wheels_of_the_tree_and_of_the_sdist_have_the_tracked_files(wheel, tmp_path):
    data = ("sql", "tasks", "models")
    expected = {
        f"evalstore_data/{name}" if name.split("/")[0] in data else name: content
        for name, content in tracked().items()
        if name.split("/")[0] in {*OURS, "warehouse", *data}
    }
    for path in (wheel, built(ROOT, "wheel", tmp_path)):
        with zipfile.ZipFile(path) as archive:
            packed = {
                name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name
            }
        assert packed.keys() == expected.keys()
        assert packed == expected


@pytest.mark.slow
def test_the_demo_runs_from_the_wheel_and_prints_only_its_own(installed, tmp_path):
    place = run(installed, "python", "-c", "import evalstore; print(evalstore.__file__)", cwd="/")
    assert place.stdout.startswith(str(installed.parent)), place
    ended = run(installed, "sh", "examples/demo.sh", tmp_path / "demo", cwd=ROOT)
    assert ended.returncode == 0, ended.stderr
    assert not FOREIGN.search(ended.stderr), ended.stderr
    store = tmp_path / "demo" / "store"
    for arguments in (
        "models",
        "show",
        "info --verify",
        "compact",
        "check",
        "annotate list",
        "sync --rebuild",
        "compare example/aurora-2 example/kaamos-mini",
        "run palindrome --model example/aurora-2 --dry-run",
        "forget 20260405-090000-first-try --yes",
        "export posters --help",
    ):
        ended = run(installed, "evalstore", "--store", store, *arguments.split(), cwd=tmp_path)
        assert ended.returncode in {0, 1}, (arguments, ended.stderr)
        assert not FOREIGN.search(ended.stderr), (arguments, ended.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["models", "sql", "tasks"])
def test_no_data_folder_can_be_imported(installed, tmp_path, name):
    code = f"from importlib.util import find_spec; print(find_spec({name!r}))"
    ended = run(installed, "python", "-c", code, cwd=tmp_path)
    # The checkout may be on the path of the packages that are borrowed.
    assert ended.returncode == 0
    assert str(installed.parent) not in ended.stdout


@pytest.mark.slow
def test_pytest_finds_the_plugin_once_and_loads_nothing_else(installed, tmp_path):
    (tmp_path / "warehouse").mkdir()  # a user's own: evalstore cannot be imported here
    (tmp_path / "warehouse" / "__init__.py").touch()
    (tmp_path / "test_a.py").write_text("def test_a():\n    pass\n")
    for arguments in ((), ("-p", "evalstore_pytest"), ("-n", "1")):
        ended = run(installed, "python", "-m", "pytest", "-q", *arguments, cwd=tmp_path)
        assert "1 passed" in ended.stdout, ended.stdout + ended.stderr
    ended = run(installed, "python", "-m", "pytest", "--fixtures", cwd=tmp_path)
    assert "evalstore_run -- " in ended.stdout


@pytest.mark.slow
def test_a_users_folder_named_like_ours_gives_one_message(installed, tmp_path):
    (tmp_path / "warehouse").mkdir()
    (tmp_path / "warehouse" / "__init__.py").touch()
    said = f"{tmp_path / 'warehouse' / '__init__.py'} shadows evalstore's package `warehouse`"
    for arguments, options in (
        (("python", "-m", "evalstore", "runs"), {}),
        (("evalstore", "runs"), {"PYTHONPATH": str(tmp_path)}),
    ):
        ended = run(installed, *arguments, cwd=tmp_path, **options)
        assert ended.returncode == 2, ended.stderr
        assert ended.stderr.startswith(f"error: {said}"), ended.stderr
        assert ended.stderr.count("\n") == 1
    ended = run(installed, "python", "-c", "import evalstore", cwd=tmp_path)
    assert ended.stderr.splitlines()[-1].startswith(f"ImportError: {said}")
    # Where theirs cannot be imported, nothing is in the way.
    (tmp_path / "warehouse" / "__init__.py").unlink()
    assert run(installed, "python", "-m", "evalstore", "--help", cwd=tmp_path).returncode == 0
    assert run(installed, "evalstore", "--help", cwd=tmp_path).returncode == 0


@pytest.mark.slow
def test_a_type_checker_sees_our_types(installed, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary"]
    mypy += ["--python-executable", installed / "python", "--cache-dir", tmp_path / "cache"]
    ended = subprocess.run(
        [*mypy, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    said = ended.stdout.replace("builtins.", "").splitlines()
    assert [line.partition(": ")[2] for line in said] == TYPES


def interpreter(version):
    """Return a Python of a version, on the path or next to the one that runs the tests."""
    home = Path(sys.base_prefix).parent
    for python in (f"python{version}", *map(str, home.glob(f"{version}.*/bin/python{version}"))):
        found = shutil.which(python)
        if found and not subprocess.run([found, "-c", ""], check=False).returncode:
            return found
    pytest.skip(f"no Python {version} here")


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_every_command_runs_from_an_installed_wheel(wheel, tmp_path, version):
    python = interpreter(version)
    subprocess.run([python, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    install = [*PIP, tmp_path / "venv", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
    install += ["--no-compile"]
    done = subprocess.run([*install, "-r", ROOT / "requirements.lock"], check=False)
    if done.returncode:
        pytest.skip(f"the packages for Python {version} cannot be installed here")
    subprocess.run([*install, wheel], check=True)
    programs = tmp_path / "venv" / "bin"
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    assert set(CALLS) == {name for name, _, _ in evalstore._COMMANDS}
    for name, arguments in CALLS.items():
        described = run(programs, "evalstore", name, "--help", cwd=tmp_path)
        assert (described.returncode, described.stderr) == (0, "")
        called = [argument.replace("+", " ") for argument in arguments.split()]
        ended = run(programs, "evalstore", name, *called, cwd=tmp_path)
        # The 18 tasks of the samples are too few to plan with.
        codes = {2} if name == "plan" else {0, 1, 3}
        assert ended.returncode in codes, (name, ended.stderr)
        assert not FOREIGN.search(ended.stderr), (name, ended.stderr)
