"""What `evalstore compare` says in words."""

import pytest
from support import ROOT, command, import_into

from warehouse.commands.comparison import score_sentence, sentence

PAIR = {
    "suite": "mine", "model_a": "a", "model_b": "b", "provider_a": "p", "provider_b": "p",
    "settings_a": "", "settings_b": "", "n_tasks": 20, "n_both": 10, "n_only_a": 8, "n_only_b": 0,
    "pass_rate_a": 0.9, "pass_rate_b": 0.5, "pass_rate_difference": 0.4,
    "pass_rate_difference_low": 0.15, "pass_rate_difference_high": 0.6, "test": "mcnemar",
    "p_value": 0.0078125, "p_holm": 0.0078125,
}  # fmt: skip


def test_a_sentence_names_both_rates_and_the_test():
    # 18 of 20 and 10 of 20; 2 · 0.5^8 = 0.0078125
    assert sentence(PAIR, first="a") == (
        "mine: of the 20 tasks that both were asked, a passed 90.0 % and b 50.0 %, by their latest "
        "runs: a difference of +40.0 points (95 % interval +15.0 to +60.0). The difference is "
        "significant at 5 % (p = 0.0078, McNemar's exact test on the 8 tasks that only one of them "
        "passed; among all pairs, Holm-adjusted p = 0.0078)."
    )


def test_the_model_named_first_is_the_first():
    text = sentence(PAIR, first="b")
    assert "b passed 50.0 % and a 90.0 %" in text
    assert "difference of -40.0 points (95 % interval -60.0 to -15.0)" in text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"p_value": 0.3, "p_holm": 0.6}, "may be chance (p = 0.3,"),
        ({"p_holm": 0.2}, "but not among all pairs (Holm-adjusted p = 0.2)."),
        ({"p_value": 1e-9, "p_holm": 1e-8}, "p < 0.0001"),
        ({"n_only_a": 0, "p_value": 1.0, "p_holm": 1.0}, "They passed the same tasks."),
        ({"n_tasks": 1, "n_both": 0, "n_only_a": 1, "p_value": 1.0}, "of the one task that both"),
        ({"n_only_a": 1, "p_value": 1.0}, "on the 1 task that only one"),
        ({"model_b": "a", "settings_b": "temperature 1"}, "a (no settings) passed"),
        ({"model_b": "a", "provider_b": None}, "a (no provider)"),
        ({"test": "paired_t"}, "at 5 % (p = 0.0078, paired t test; among all pairs"),
        (
            {"test": None, "p_value": None, "pass_rate_difference_low": None},
            "latest runs. Too few tasks",
        ),
    ],
)
def test_a_sentence_claims_no_more_than_the_figures(changes, text):
    assert text in sentence(PAIR | changes, first="a")


SCORES = {
    **PAIR, "metric": "app_quality", "scorer": None, "filter": None, "n_tasks": 5,
    "mean_a": 98.04, "mean_b": 66.1, "mean_difference": 31.94, "difference_low": -12.5,
    "difference_high": 76.4, "test": "paired_t", "p_value": 0.125, "p_holm": 0.25,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "on the 5 tasks that both attempted, a scored 98.04 on average and b 66.1"),
        ({}, "(app_quality): a difference of +31.94 (95 % interval -12.5 to +76.4). The"),
        ({}, "The difference may be chance (p = 0.12, paired t test)."),
        ({"p_value": None, "difference_low": None}, "(app_quality). Too few tasks"),
        ({"scorer": "s", "filter": "strict"}, "(app_quality, scorer s, filter strict)"),
        ({"p_value": 0.01}, "significant at 5 % if this pair is the only one"),
        ({"p_value": 0.01, "p_holm": 0.02}, "at 5 % (p = 0.01, paired t test; among all pairs"),
    ],
)
def test_scores_are_compared_in_a_sentence(changes, text):
    assert text in score_sentence(SCORES | changes, first="a")


@pytest.mark.slow
def test_posters_are_compared_by_any_score(store):
    import_into(store, ROOT / "examples" / "posters" / "benchmark")
    models = ("openrouter-example_vision-large", "ollama-tinyeye_3b")
    posters = command(store.path, "compare", *models)
    assert "(app_quality): a difference of" in posters.out
    venues = command(store.path, "compare", *models, "--metric", "venue")
    assert "(venue)" in venues.out
    tasks = command(store.path, "compare", *models, "--metric", "venue", "--tasks")
    assert "score_a" in tasks.out
    wrong = command(store.path, "compare", *models, "--metric", "venu")
    assert (wrong.code, "did you mean 'venue'?" in wrong.err) == (2, True)


@pytest.mark.slow
def test_compare_begins_with_a_sentence_for_each_pair(examples):
    models = ("relay/example/tundra-large", "example/aurora-2")
    ended = command(examples.path, "compare", *models)
    words, table = ended.out.split("\n\n")
    assert [line.startswith("palindrome: of the") for line in words.splitlines()] == [True, True]
    assert len(table.splitlines()) == 2 + 2
    assert command(examples.path, "compare", *models, "--format", "csv").out.startswith("suite,")
