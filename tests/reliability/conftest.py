import shutil

import pytest
from support import SECRET, bring_in, log, new_store, task, write_log


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A synced store of four small batches; one run of them is to be forgotten."""
    folder = tmp_path_factory.mktemp("small")
    store = new_store(folder / "store")
    for n in (1, 2):
        bring_in(store, write_log(folder / f"{n}.yaml", log([n, n + 1], date=f"2026-04-0{n}")))
    bring_in(store, write_log(folder / "1.yaml", log([1, 2, 3], date="2026-04-01")))
    secret = write_log(folder / "secret.yaml", log(tasks=[task(9, answer=SECRET)]))
    bring_in(store, secret, run_as="secret")
    store.sync()
    return store


@pytest.fixture
def mine(small, tmp_path):
    shutil.copytree(small.path, tmp_path / "small")
    return new_store(tmp_path / "small")
