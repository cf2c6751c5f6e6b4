"""Both leaderboards as three programs, each of which prints its seconds and rows as JSON.

The time from the query to the rows is measured, without the imports of libraries.
"""

_COLUMNS = (
    "suite, provider, model, settings, n_runs, n_results, n_judged, n_passed, pass_rate, "
    "pass_rate_low, pass_rate_high, p50_ms, mean_ms, n_cost_known, total_cost_usd, "
    "cost_per_passed_usd, first_date, last_date"
)

OURS = f"""
import json, sys, time
import duckdb, evalstore
store = evalstore.open(sys.argv[1])
start = time.perf_counter()
rows = store.sql('''
    SELECT {_COLUMNS} FROM leaderboard_pooled ORDER BY suite, provider, model, settings
''').fetchall()
print(json.dumps([time.perf_counter() - start, rows], default=str))
"""

_WILSON = """
Z = 1.959963984540054
def wilson(passed, judged, sign):
    middle = passed + Z**2 / 2
    spread = Z * (passed * (judged - passed) / judged + Z**2 / 4) ** 0.5
    return (middle + sign * spread) / (judged + Z**2)
"""

POLARS = (
    _WILSON
    + """
import json, sys, time
import polars as pl
from warehouse.core.schemas import RESULTS, arrow_schema
# Small files lack columns without a value.
schema = pl.from_arrow(arrow_schema(RESULTS).empty_table()).schema
start = time.perf_counter()
calls = pl.scan_parquet(
    f"{sys.argv[1]}/lake/*/results.parquet",
    schema=schema, missing_columns="insert", extra_columns="ignore",
)
answered = (pl.col("availability_status") == "ok") & pl.col("success")
latency = pl.col("e2e_ms").filter(answered)
passed_with_cost = (pl.col("objective_pass") & pl.col("cost_usd").is_not_null()).sum()
board = (
    calls.with_columns(
        ("thinking_level " + pl.col("thinking_level")).fill_null("").alias("settings"),
    )
    .group_by("suite", "provider", "model", "settings")
    .agg(
        pl.col("run_id").n_unique().alias("n_runs"),
        pl.len().alias("n_results"),
        pl.col("objective_pass").count().alias("n_judged"),
        pl.col("objective_pass").sum().alias("n_passed"),
        latency.quantile(0.5, "linear").alias("p50_ms"),
        latency.mean().alias("mean_ms"),
        pl.col("cost_usd").count().alias("n_cost_known"),
        pl.col("cost_usd").sum().alias("total_cost_usd"),
        (pl.col("cost_usd").sum() / passed_with_cost).alias("cost_per_passed_usd"),
        pl.col("started_at").min().dt.strftime("%Y-%m-%d").alias("first_date"),
        pl.col("started_at").max().dt.strftime("%Y-%m-%d").alias("last_date"),
    )
    .with_columns(
        (pl.col("n_passed") / pl.col("n_judged")).alias("pass_rate"),
        wilson(pl.col("n_passed"), pl.col("n_judged"), -1).alias("pass_rate_low"),
        wilson(pl.col("n_passed"), pl.col("n_judged"), 1).alias("pass_rate_high"),
    )
    .sort("suite", "provider", "model", "settings")
"""
    + f"""
    .select("{_COLUMNS}".split(", "))
    .collect()
)
rows = board.rows()
print(json.dumps([time.perf_counter() - start, rows]))
"""
)

PANDAS = (
    _WILSON
    + """
import glob, json, sys, time
import pandas as pd, pyarrow.parquet
from warehouse.core.schemas import RESULTS, arrow_schema
schema = arrow_schema(RESULTS)
start = time.perf_counter()
columns = ["suite", "run_id", "provider", "model", "thinking_level", "availability_status",
           "success", "started_at", "e2e_ms", "cost_usd", "objective_pass"]
files = sorted(glob.glob(f"{sys.argv[1]}/lake/*/results.parquet"))
calls = pd.concat([pd.read_parquet(file, columns=columns, schema=schema) for file in files])
calls["settings"] = ("thinking_level " + calls["thinking_level"]).fillna("")
answered = (calls["availability_status"] == "ok") & calls["success"].astype(bool)
calls["latency"] = calls["e2e_ms"].where(answered)
calls["passed"] = calls["objective_pass"].eq(True)
calls["passed_with_cost"] = calls["passed"] & calls["cost_usd"].notna()
board = calls.groupby(["suite", "provider", "model", "settings"], sort=True).agg(
    n_runs=("run_id", "nunique"),
    n_results=("run_id", "size"),
    n_judged=("objective_pass", "count"),
    n_passed=("passed", "sum"),
    p50_ms=("latency", "median"),
    mean_ms=("latency", "mean"),
    n_cost_known=("cost_usd", "count"),
    total_cost_usd=("cost_usd", "sum"),
    n_passed_with_cost=("passed_with_cost", "sum"),
    first_date=("started_at", "min"),
    last_date=("started_at", "max"),
).reset_index()
board["pass_rate"] = board["n_passed"] / board["n_judged"]
board["pass_rate_low"] = wilson(board["n_passed"], board["n_judged"], -1)
board["pass_rate_high"] = wilson(board["n_passed"], board["n_judged"], 1)
board["cost_per_passed_usd"] = board["total_cost_usd"] / board["n_passed_with_cost"]
for date in ("first_date", "last_date"):
    board[date] = board[date].dt.strftime("%Y-%m-%d")
"""
    + f"""
rows = board["{_COLUMNS}".split(", ")].values.tolist()
print(json.dumps([time.perf_counter() - start, rows]))
"""
)

_LATEST_COLUMNS = (
    "suite, provider, model, settings, run_id, n_tasks, n_results, n_unanswered, pass_rate, "
    "p50_ms, mean_ms, n_cost_known, total_cost_usd"
)

LATEST_OURS = f"""
import json, sys, time
import duckdb, evalstore
store = evalstore.open(sys.argv[1])
start = time.perf_counter()
rows = store.sql('''
    SELECT {_LATEST_COLUMNS} FROM leaderboard ORDER BY suite, provider, model, settings
''').fetchall()
print(json.dumps([time.perf_counter() - start, rows], default=str))
"""

# A call without an answer did not pass; the latest run is chosen of those that asked most tasks.
LATEST_POLARS = (
    """
import json, sys, time
import polars as pl
from warehouse.core.schemas import RESULTS, arrow_schema
# Small files lack columns without a value.
schema = pl.from_arrow(arrow_schema(RESULTS).empty_table()).schema
start = time.perf_counter()
calls = pl.scan_parquet(
    f"{sys.argv[1]}/lake/*/results.parquet",
    schema=schema, missing_columns="insert", extra_columns="ignore",
).with_columns(
    ("thinking_level " + pl.col("thinking_level")).fill_null("").alias("settings"),
    ((pl.col("availability_status") == "ok") & pl.col("success")).alias("answered"),
)
model = ["suite", "provider", "model", "settings"]
runs = (
    calls.group_by(*model, "run_id", "task_id")
    .agg(
        pl.col("objective_pass").fill_null(False).mean().alias("share"),
        pl.len().alias("n_results"),
        (~pl.col("answered")).sum().alias("n_unanswered"),
        pl.col("started_at").min().alias("started_at"),
    )
    .group_by(*model, "run_id")
    .agg(
        pl.len().alias("n_tasks"),
        pl.col("n_results").sum(),
        pl.col("n_unanswered").sum(),
        pl.col("share").mean().alias("pass_rate"),
        pl.col("started_at").min(),
    )
)
latest = runs.sort("n_tasks", "started_at").group_by(model).last().collect()
latency = pl.col("e2e_ms").filter(pl.col("answered"))
figures = (
    calls.join(latest.lazy().select(*model, "run_id"), on=[*model, "run_id"], how="semi")
    .group_by(model)
    .agg(
        latency.quantile(0.5, "linear").alias("p50_ms"),
        latency.mean().alias("mean_ms"),
        pl.col("cost_usd").count().alias("n_cost_known"),
        pl.col("cost_usd").sum().alias("total_cost_usd"),
    )
    .collect()
)
board = latest.join(figures, on=model).sort(model)
"""
    f"""
rows = board.select("{_LATEST_COLUMNS}".split(", ")).rows()
print(json.dumps([time.perf_counter() - start, rows]))
"""
)

LATEST_PANDAS = (
    """
import glob, json, sys, time
import pandas as pd, pyarrow.parquet
from warehouse.core.schemas import RESULTS, arrow_schema
schema = arrow_schema(RESULTS)
start = time.perf_counter()
columns = ["suite", "run_id", "task_id", "provider", "model", "thinking_level", "success",
           "availability_status", "started_at", "e2e_ms", "cost_usd", "objective_pass"]
files = sorted(glob.glob(f"{sys.argv[1]}/lake/*/results.parquet"))
calls = pd.concat([pd.read_parquet(file, columns=columns, schema=schema) for file in files])
calls["settings"] = ("thinking_level " + calls["thinking_level"]).fillna("")
answered = (calls["availability_status"] == "ok") & calls["success"].astype(bool)
calls["unanswered"] = ~answered
calls["latency"] = calls["e2e_ms"].where(answered)
calls["passed"] = calls["objective_pass"].eq(True)
model = ["suite", "provider", "model", "settings"]
tasks = calls.groupby([*model, "run_id", "task_id"], sort=False).agg(
    share=("passed", "mean"),
    n_results=("passed", "size"),
    n_unanswered=("unanswered", "sum"),
    started_at=("started_at", "min"),
)
runs = tasks.groupby([*model, "run_id"], sort=False).agg(
    n_tasks=("share", "size"),
    n_results=("n_results", "sum"),
    n_unanswered=("n_unanswered", "sum"),
    pass_rate=("share", "mean"),
    started_at=("started_at", "min"),
).reset_index()
latest = runs.sort_values(["n_tasks", "started_at"]).groupby(model).tail(1)
chosen = calls.merge(latest[[*model, "run_id"]], on=[*model, "run_id"])
figures = chosen.groupby(model).agg(
    p50_ms=("latency", "median"),
    mean_ms=("latency", "mean"),
    n_cost_known=("cost_usd", "count"),
    total_cost_usd=("cost_usd", "sum"),
).reset_index()
board = latest.merge(figures, on=model).sort_values(model)
"""
    f"""
rows = board["{_LATEST_COLUMNS}".split(", ")].values.tolist()
print(json.dumps([time.perf_counter() - start, rows]))
"""
)
