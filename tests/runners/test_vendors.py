"""Keys and prices read without importing litellm, compared with litellm itself."""

import os
import subprocess
import sys

import pytest
from support import ROOT

from runners.models.prices import known_price
from runners.providers import vendors
from runners.providers.registry import make_provider

# litellm and its libraries emit warnings of their own.
pytestmark = pytest.mark.filterwarnings("default")
VENDORS = sorted(vendors._NAMED_AFTER_VENDOR | vendors._OTHERS.keys())


@pytest.fixture(scope="module")
def litellm():
    return make_provider("litellm")._litellm()


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for name in os.environ:
        if name.startswith("AWS_") or name.endswith(("_KEY", "_TOKEN")):
            monkeypatch.delenv(name)


def named(vendor):
    """Return each variable that a vendor's table entry names."""
    own = (f"{vendor.upper()}_API_KEY",)
    needed = own if vendor in vendors._NAMED_AFTER_VENDOR else vendors._OTHERS[vendor]
    return [names.split("|") for names in needed]


def lacks_keys(litellm, vendor):
    keys = litellm.validate_environment(f"{vendor}/model")["missing_keys"]
    return any(not key.endswith("_BASE") for key in keys)


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_vendor_needs_the_keys_that_litellm_asks_for(litellm, monkeypatch, vendor):
    assert vendors.vendor_of(f"{vendor}/model") == vendor
    asked = litellm.validate_environment(f"{vendor}/model")["missing_keys"]
    assert {names[0] for names in named(vendor)} <= set(asked)
    known = {name for names in named(vendor) for name in names}
    assert {key for key in asked if not key.endswith("_BASE")} <= known
    assert bool(vendors.missing_keys(vendor)) == lacks_keys(litellm, vendor)
    monkeypatch.setenv("AZURE_API_BASE", "https://example.org")
    monkeypatch.setenv("CLOUDFLARE_API_BASE", "https://example.org")
    for number in range(max(map(len, named(vendor)), default=0)):
        with monkeypatch.context() as patch:
            for names in named(vendor):
                patch.setenv(names[min(number, len(names) - 1)], "a-key")
            assert vendors.missing_keys(vendor) == []
            assert not lacks_keys(litellm, vendor), number


def test_no_vendor_of_litellm_is_unknown(litellm):
    for vendor in litellm.provider_list:
        assert not vendors.is_unknown(f"{vendor.value}/model")
    for model in litellm.model_cost:
        assert not vendors.is_unknown(model)


def test_openai_models_need_no_vendor_in_their_names(litellm):
    assert vendors.vendor_of("gpt-4o") == litellm.get_llm_provider("gpt-4o")[1] == "openai"


def test_prices_are_those_of_litellm(litellm):
    n_priced = 0
    for model, entry in litellm.model_cost.items():
        price = known_price(model)
        if price is not None:
            n_priced += 1
            assert price["input"] == entry["input_cost_per_token"], model
            assert price["output"] == entry["output_cost_per_token"], model
    assert n_priced > 1000


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [("models",), ("run", "palindrome", "-m", "ALL", "--dry-run")]
)
def test_listing_does_not_import_litellm(tmp_path, arguments):
    script = (
        "import sys\n"
        "import evalstore\n"
        "try: evalstore.main()\n"
        "except SystemExit: pass\n"
        "print('litellm' in sys.modules, file=sys.stderr)\n"
    )
    store = ("--store", tmp_path / "store")
    ended = subprocess.run(
        [sys.executable, "-c", script, *map(str, (*store, *arguments))],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert ended.stdout
    assert ended.stderr.splitlines()[-1] == "False"
