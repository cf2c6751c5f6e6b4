import shutil

import pytest
from support import SECRET, import_into, log, new_store, task, write_log


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """Return a synced store of four small batches, with a run that tests forget."""
    folder = tmp_path_factory.mktemp("small")
    store = new_store(folder / "store")
    for n in (1, 2):
        import_into(store, write_log(folder / f"{n}.yaml", log([n, n + 1], date=f"2026-04-0{n}")))
    import_into(store, write_log(folder / "1.yaml", log([1, 2, 3], date="2026-04-01")))
    secret = write_log(folder / "secret.yaml", log(tasks=[task(9, answer=SECRET)]))
    import_into(store, secret, run_as="secret")
    store.sync()
    return store


@pytest.fixture
def small_store(small, tmp_path):
    shutil.copytree(small.path, tmp_path / "small")
    return new_store(tmp_path / "small")


@pytest.fixture(scope="session")
def _two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    store = new_store(folder / "store")
    for n in (1, 2):
        import_into(store, write_log(folder / f"{n}.yaml", log([n], date=f"2026-04-0{n}")))
        store.sync()
    return store


@pytest.fixture
def two(_two, tmp_path):
    """Return a synced store of two batches."""
    shutil.copytree(_two.path, tmp_path / "store")
    return new_store(tmp_path / "store")
