import json

import pytest
from poster_cases import POSTERS, read_cases
from support import needs_reference

from warehouse.scoring.posters.calls import estimate_cost, resolve_max_output
from warehouse.scoring.posters.meta import (
    dataset_hash,
    image_suffix,
    instagram_shortcode,
    poster_id,
    published_label,
    read_urls,
    rounded,
    safe_name,
)


def max_output(asked: str | None, provider: str | None, config: dict[str, int]) -> object:
    try:
        return resolve_max_output(asked, provider, context=config["context_override"])
    except ValueError:
        return "ERR ValueError"


@needs_reference
def test_reference_cases() -> None:
    functions = {
        "safe_name": safe_name,
        "extract_shortcode": instagram_shortcode,
        "published_label": published_label,
        "guess_extension": lambda row: image_suffix(*row),
        "resolve_max_output": lambda row: max_output(*row),
        "estimate_cost": lambda row: estimate_cost(*row),
    }
    for case in read_cases("misc_functions.jsonl"):
        assert functions[case["fn"]](case["in"]) == case["out"], case


@needs_reference
def test_workspace_ids_and_hashes() -> None:
    workspace = POSTERS / "workspace"
    entries = json.loads((workspace / "manifest.json").read_text(encoding="utf-8"))
    urls = read_urls((workspace / "urls.txt").read_text(encoding="utf-8"))
    assert [entry["url"] for entry in entries] == urls
    assert [entry["id"] for entry in entries] == [poster_id(url) for url in urls]
    (metadata,) = (workspace / "published").glob("*/run_metadata.json")
    hashes = json.loads(metadata.read_text(encoding="utf-8"))
    assert dataset_hash((workspace / "urls.txt").read_bytes()) == hashes["urls_sha256"]
    assert dataset_hash((workspace / "manifest.json").read_bytes()) == hashes["manifest_sha256"]


def test_url_list() -> None:
    assert read_urls(" a \n\n# no\nb\r\na\n") == ["a", "b"]


def test_broken_address_is_hashed() -> None:
    assert instagram_shortcode("http://[x") is None
    assert len(poster_id("http://[x")) == 12


def test_label_defaults_to_run() -> None:
    assert (published_label(""), published_label("a b")) == ("run", "a_b")


@pytest.mark.parametrize(("asked", "limit"), [("max", 8192), ("half", None), ("7", 7)])
def test_gemini_has_a_limit_of_its_own(asked: str, limit: int | None) -> None:
    assert resolve_max_output(asked, "gemini", model_limit=8192) == limit


def test_cost_needs_tokens_and_prices() -> None:
    assert estimate_cost({"prompt": "1"}, None, 1) is None
    assert estimate_cost({"prompt": "free"}, 1, 1) is None


def test_rounding() -> None:
    assert (rounded(None, 2), rounded(2.675, 2), rounded(0.125, 2)) == (None, 2.67, 0.12)
