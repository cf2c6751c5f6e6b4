import json

from poster_cases import POSTERS, read_cases
from support import needs_reference

from warehouse.engine.scoring.posters.meta import (
    dataset_hash,
    instagram_shortcode,
    poster_id,
    published_label,
    read_urls,
    safe_name,
)


@needs_reference
def test_reference_cases() -> None:
    functions = {
        "safe_name": safe_name,
        "extract_shortcode": instagram_shortcode,
        "published_label": published_label,
    }
    cases = [case for case in read_cases("misc_functions.jsonl") if case["fn"] in functions]
    assert len(cases) > len(functions)
    for case in cases:
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
