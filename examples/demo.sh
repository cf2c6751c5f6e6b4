#!/bin/sh
# A tour of evalstore with the samples: sh examples/demo.sh FOLDER, in the root of the checkout.
# The store and the exports go to FOLDER; the files of an earlier demo are removed first.
set -eu

folder=${1:?usage: sh examples/demo.sh FOLDER}
export EVALSTORE_DIR="$folder/store"
export COLUMNS="${COLUMNS:-150}"
rm -rf "$folder/store" "$folder/export" "$folder/cache" "$folder/site"
mkdir -p "$folder"

say() {
    printf '\n==> %s\n' "$1"
}

# Print a command, run it, and fail unless it exits with the expected code.
run() {
    wanted=$1
    shift
    code=0
    printf '$'
    for word in "$@"; do
        case $word in
        *[!A-Za-z0-9_./=-]*) printf ' "%s"' "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$@" || code=$?
    if [ "$code" -ne "$wanted" ]; then
        printf 'demo: exit code %s, expected %s\n' "$code" "$wanted" >&2
        exit 1
    fi
}

say "Import existing logs of three benchmarks, with their task and model files."
run 0 evalstore import examples/palindrome examples/openclaw examples/posters

say "List the imported runs."
run 0 evalstore runs

say "Which model is best? Each model by its latest full run, with 95 % intervals."
run 0 evalstore sql "SELECT task_set, model, settings, n_tasks, round(pass_rate, 3) AS pass_rate,
    round(pass_rate_low, 3) AS low, round(pass_rate_high, 3) AS high, p50_ms, total_cost_usd
FROM leaderboard"

say "Query with SQL: which tasks are hardest?"
run 0 evalstore sql "SELECT prompt, reference, n_correct, n, solved_by
FROM palindrome_tasks ORDER BY accuracy LIMIT 5"

say "Damaged files do no harm: whatever can be used is imported, the rest goes to quarantine."
run 2 evalstore import examples/damaged
say "The exit code is 2, and the quarantine gives the reasons."
run 0 evalstore sql "SELECT path, line, reason FROM quarantine"

say "Export the files of the specification. One sample log violates it (no {prompt} in its template),
    so it is left out and reported, and the exit code is 1."
run 1 evalstore export palindrome --to "$folder/export"

say "Posters: a model wrote the ground truth, so it is silver. Where do the two annotators differ?"
run 0 evalstore sql "SELECT task_id, field, value_a, value_b FROM annotation_disagreements
WHERE NOT starts_with(value_a, '{')"

say "Adjudicate the differences. Adjudicated posters become gold."
run 0 evalstore annotate adjudicate --from examples/posters/settled --by Cho
run 0 evalstore annotate adjudicate --agreed --by Cho
run 0 evalstore annotate promote

say "Report the scores, over all posters, over gold and over what is still silver."
run 0 evalstore sql "SELECT model, label, posters, gold_posters AS gold, app_quality_score,
    app_quality_low AS low, app_quality_high AS high, prediction_cost_usd FROM poster_report"
run 0 evalstore sql "SELECT model, part, posters, app_quality_score, app_quality_low AS low,
    app_quality_high AS high FROM poster_report_parts"
run 0 evalstore export posters --run 20260405-090000-first-try --to "$folder/export/posters" --png

say "OpenClaw: the summary of each run, recomputed."
run 0 evalstore sql "SELECT run_id, provider, model, thinking_level, n_total, n_ok, n_success,
    round(objective_pass_rate, 3) AS pass_rate, p50_ms, tool_tier
FROM openclaw_summary"

say "Which models can be used for subagents? Only tier 1; the interval shows how certain that is."
run 0 evalstore sql "SELECT run_id, model, settings, tier, n_used, n_counted,
    round(rate_low, 3) AS low, round(rate_high, 3) AS high, routing
FROM tool_tiers"

say "Run models. The provider replay takes answers from a file: no network, no key, no cost."
run 0 evalstore run palindrome --model example/aurora-2 --model example/kaamos-mini \
    --provider replay
run 0 evalstore run openclaw --model example/aurora-2 --model example/kaamos-mini --provider replay
say "Replayed runs do not count: the leaderboard stays the same, and they have a separate one."
run 0 evalstore sql "SELECT suite, model, n_runs, n_judged, round(pass_rate, 3) AS pass_rate
FROM replay_leaderboard"
say "An export leaves them out, unless one is named."
run_id=$(evalstore sql "SELECT max(run_id) FROM runs WHERE suite = 'openclaw' AND is_replay" \
    --format csv | tail -n 1)
run 0 evalstore export openclaw --run "$run_id" --to "$folder/export"

say "Run the poster suites: one model writes ground truth, others make predictions, one judges."
export EVALSTORE_CACHE="$folder/cache"
posters="--urls examples/posters/docs/test_poster_urls.txt --images examples/posters/images"
# shellcheck disable=SC2086 # words, each an option
run 0 evalstore run posters-truth $posters --model example/reader-large --provider replay
# shellcheck disable=SC2086
run 0 evalstore run posters $posters --model example/vision-large --model example/vision-small \
    --provider replay
run_id=$(evalstore sql "SELECT max(run_id) FROM runs WHERE suite = 'posters' AND origin = 'runner'" \
    --format csv | tail -n 1)
run 0 evalstore run posters-judge --of "$run_id" --model example/judge --provider replay
run 0 evalstore publish posters --run "$run_id" --label demo --to "$folder/export" --allow-silver

say "Look at all of it: a site of static pages, which needs no server."
run 0 evalstore report --to "$folder/site"

say "Done. The store is $EVALSTORE_DIR, the exported files are in $folder/export. Next, try:"
printf '  evalstore --store %s show leaderboard\n' "$EVALSTORE_DIR"
printf 'and open in a browser:\n  %s\n' "$(cd "$folder" && pwd)/site/index.html"
