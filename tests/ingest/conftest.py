import shutil

import pytest
from poster_cases import SAMPLES, run
from support import new_store, queried_store


@pytest.fixture
def store(tmp_path):
    """Return an empty store whose queries need no warehouse of its own."""
    return queried_store(tmp_path / "store")


@pytest.fixture(scope="session")
def _samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    shutil.copytree(SAMPLES, folder / "tours")
    store = new_store(folder / "store", on_warning=pytest.fail)
    run(store.path, "import", folder / "tours")
    store.sync()
    return folder


@pytest.fixture
def samples(_samples, tmp_path):
    """Return a synced store of the sample posters, and the folder they were imported from."""
    shutil.copytree(_samples, tmp_path, dirs_exist_ok=True)
    return new_store(tmp_path / "store", on_warning=pytest.fail)
