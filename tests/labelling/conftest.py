import pytest
from label_cases import labelled_store


@pytest.fixture
def answers(tmp_path):
    """Return a store with two runs of a suite, of six answers each."""
    return labelled_store(tmp_path / "store")
