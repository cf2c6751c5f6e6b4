"""The Markdown of poster reports: the tables of the original, and our additions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.core.text.formatting import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exports.rows import Document

SUMMARY = {
    "Model": "model",
    "Posters": "posters",
    "Missing preds": "missing_predictions",
    "App quality": "app_quality_score",
    "App core": "app_core_score",
    "App 95% CI": "app_quality_ci95",
    "Schema strict rate": "schema_strict_rate",
    "JSON parse rate": "json_parse_rate",
    "Event match score": "avg_event_match_score",
    "Core event match": "avg_core_event_match_score",
    "Top-level score": "avg_top_level_score",
    "Event count score": "avg_event_count_score",
    "Missing field rate": "avg_missing_field_rate",
    "Avg judge score": "avg_score",
    "Total cost (USD)": "total_cost_usd",
}
PAIRS = {
    "Model A": "model_a",
    "Model B": "model_b",
    "Mean diff": "diff_mean",
    "95% CI": "ci95",
    "p-value": "p_value",
    "Significant": "significant",
}
PAIRED = {
    "Model A": "model_a",
    "Model B": "model_b",
    "Mean diff": "diff_mean",
    "Paired 95% CI": "paired_ci95",
    "Paired p-value": "paired_p_value",
    "Holm p-value": "holm_p_value",
}


def summary_markdown(meta: Document, summary: Sequence[Document]) -> str:
    """Return the text of summary.md."""
    counts = {
        "Generated": meta["generated_at"],
        "Posters (manifest ok)": meta["posters_manifest_ok"],
        "Ground truth available": meta["ground_truth_available"],
        "Missing ground truth": meta["missing_ground_truth"],
    }
    parts = [
        f"# Benchmark Report ({ground_truth(meta['label'])})\n",
        "".join(f"{name}: {value}\n" for name, value in counts.items()),
        f"## Model summary\n\n{_table(SUMMARY, summary)}",
        _single_poster_section(meta),
        _settings_section(meta),
        _deviation_section(meta),
        _label_section(meta, summary),
        _exclusion_section(meta),
        _note_section(meta),
    ]
    return "\n".join(part for part in parts if part)


def comparisons_markdown(meta: Document, pairs: Sequence[Document]) -> str:
    """Return the text of comparisons.md: the original's table, then the paired comparisons."""
    title = ground_truth(meta["label"])
    core = [{"model_a": p["model_a"], "model_b": p["model_b"], **p["app_core"]} for p in pairs]
    parts = [
        f"# Model comparisons (app quality, bootstrap; {title})\n",
        _table(PAIRS, pairs),
        *filter(None, [_single_poster_section(meta)]),
        "## Paired by poster, p-values adjusted by Holm: app quality\n",
        _table(PAIRED, pairs),
        "## Paired by poster, p-values adjusted by Holm: app core\n",
        _table(PAIRED, core),
    ]
    return "\n".join(parts)


def ground_truth(label: str | None) -> str:
    """Return the name of the ground truth for a title."""
    return f"{label} ground truth" if label else "no ground truth"


def cell(value: object) -> str:
    """Return the text of a cell as the original writes it, an interval with a dash."""
    match value:
        case [low, high]:
            value = f"{low}–{high}"
    return visible(str(value)).replace("|", "\\|")


def _table(columns: dict[str, str], rows: Iterable[Document]) -> str:
    lines = [" | ".join(columns), " | ".join("---" for _ in columns)]
    lines += [
        " | ".join(
            "n/a" if row[key] is None and key.endswith("ci95") else cell(row[key])
            for key in columns.values()
        )
        for row in rows
    ]
    return "".join(f"| {line} |\n" for line in lines)


def _label_section(meta: Document, summary: Sequence[Document]) -> str:
    """Return the section on the ground truth, with the figures of both parts if it has two."""
    label, basis = meta["label"], meta["label_basis"]
    if label is None:
        return "## Ground truth\n\nThere is no ground truth.\n"
    proof = f" ({basis}{', not proven' if basis == 'declared' else ''})" if basis else ""
    gold, silver = meta["gold_posters"], meta["silver_posters"]
    text = f"The ground truth is {label}. Gold posters: {gold}{proof}; silver posters: {silver}.\n"
    text = f"## Ground truth\n\n{text}"
    rows = [
        {**part, "model": f"{row['model']} ({name})"}
        for row in summary
        for name, part in row.get("parts", {}).items()
    ]
    columns = {name: SUMMARY[name] for name in ("Model", "Posters", "App quality", "App 95% CI")}
    return f"{text}\n{_table(columns, rows)}" if rows else text


def _single_poster_section(meta: Document) -> str:
    if meta["ground_truth_available"] != 1:
        return ""
    return (
        "## A single poster\n\nOne poster gives neither an interval nor a p-value. Those above are "
        "the original program's, which resamples the same poster every time: they mean nothing.\n"
    )


def _settings_section(meta: Document) -> str:
    if "scored_with" not in meta:
        return ""
    names = " and ".join(meta["scored_with"])
    return (
        f"## Scored with other settings\n\nThe run records other settings ({names}) than those "
        "behind these figures; meta.json has both, ours as `scored_with`.\n"
    )


def _deviation_section(meta: Document) -> str:
    lines = [f"- {cell(d['model'])}: {cell(d['deviation'])}\n" for d in meta.get("deviations", ())]
    return f"## Not by the protocol\n\n{''.join(lines)}" if lines else ""


def _exclusion_section(meta: Document) -> str:
    if not meta["exclusions"]:
        return ""
    lines = [f"- {cell(e['id'])}: {cell(e['reason'])}\n" for e in meta["exclusions"]]
    return f"## Posters not scored: {len(lines)}\n\n{''.join(lines)}"


def _note_section(meta: Document) -> str:
    if not meta["quality_notes"]:
        return ""
    lines = [
        f"- {cell(n['model'])}, {cell(n['id'])}: {cell(n['note'])}\n" for n in meta["quality_notes"]
    ]
    return f"## Quality notes\n\n{''.join(lines)}"
