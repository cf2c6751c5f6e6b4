"""Converts columns of text, or of Parquet's types, into numbers, booleans, durations and times.

How a cell is read is decided here only: the preview shows what these functions return. Each returns
the values and a mask of those that cannot be converted. What a value means never depends on other
rows, so that a table means the same in blocks of any size.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

if TYPE_CHECKING:
    from ingest.formats.common.judged import Outcome

Converted: TypeAlias = tuple[pl.Series, pl.Series]

MISSING = ("", "na", "n/a", "nan", "null", "none", "-")
_TRUE_WORDS = (
    *("true", "yes", "y", "pass", "passed", "correct", "right", "ok", "ja", "richtig", "wahr"),
    *"✓✔☑✅",
)
_FALSE_WORDS = (
    *("false", "no", "n", "fail", "failed", "incorrect", "wrong", "nein", "falsch"),
    *"✗✘☒❌✕",
)
TRUE = (*_TRUE_WORDS, "1", "1.0")
FALSE = (*_FALSE_WORDS, "0", "0.0")
# Words for the better of two answers; the name of a model is another.
WINNERS: dict[str, Outcome] = {
    **dict.fromkeys(("model_a", "a", "left", "model_1", "1"), "a"),
    **dict.fromkeys(("model_b", "b", "right", "model_2", "2"), "b"),
    **dict.fromkeys(("tie", "draw"), "tie"),
    **dict.fromkeys(("tie (bothbad)", "both_bad", "bothbad", "both bad"), "both_bad"),
}
# Marks may be followed by a character that asks for their coloured form.
_COLOURED = "\ufe0f"

_DATE = r"^\d{4}-\d{2}-\d{2}$"
_MOMENT = r"^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d+)?) ?([+-]\d{2}:\d{2})?[Zz]?$"
_DOLLARS = r"(?i)^([+-]?)(?:(?:US ?)?\$|USD )\s*|\s*(?:(?:US ?)?\$| USD)$"
_WITH_UNIT = (
    r"(?i)^(.*[\d.])\s*(µs|μs|us|ms|msecs?|millis|milliseconds?|s|secs?|seconds?|sek|sekunden"
    r"|min|mins|minutes?|h|hours?)\.?$"
)
# Seconds of a unit, by its form, as factor and divisor.
_UNITS = {
    r"^[uµμ]": (1, 1e6),
    r"^(ms|milli)": (1, 1e3),
    r"^s": (1, 1),
    r"^min": (60, 1),
    r"^h": (3600, 1),
}
# With a point behind them, commas can only be between thousands.
_WITH_POINT = r"^[+-]?\d{1,3}(?:,\d{3})+\.\d+ ?%?$"
# Numbers with a decimal comma, with points between thousands or without.
_SIGN = r"^(?:US ?|USD )?[-+$ ]*"
_COMMA = _SIGN + r"(?:\d{1,3}(?:\.\d{3})+|\d*),\d+(?:[eE][+-]?\d+)?[^\d,.]*$"
_THOUSANDS = _SIGN + r"[1-9]\d{0,2}(?:\.\d{3})+[^\d,.]*$"
# In `1,234` the comma may be one between thousands, in these it cannot.
_CLEAR_COMMA = _SIGN + r"(?:0,\d+|\d*,(?:\d{1,2}|\d{4,})|[\d.]+\.\d{3},\d+)\D*$"
_INEXACT_FROM = 2**53
_PLAIN = "%Y-%m-%dT%H:%M:%S%.fZ"
_ISO = "%Y-%m-%dT%H:%M:%S%.f%:z"
# Larger numbers of seconds than 1e11 would be after the year 5138: they are milliseconds.
# The least number of each unit, and its microseconds; numbers below 1e8 (1973) are not times.
_EPOCH_UNITS = ((1e8, 1e6), (1e11, 1e3), (1e14, 1.0), (1e17, 1e-3))


def as_text(series: pl.Series) -> pl.Series:
    """Return values as text; lists and structures as JSON."""
    kind = series.dtype
    if kind == pl.String:
        return series
    if kind == pl.Binary:
        return series.bin.encode("base64")
    if kind.is_nested():
        return _without_name(json_fields(series)).alias(series.name)
    return series.cast(pl.String)


def json_fields(series: pl.Series) -> pl.Series:
    """Return each value as a field of a JSON object, `"name":value`; NULL stays NULL."""
    if series.dtype == pl.Binary:
        series = as_text(series)
    frame = series.to_frame()
    encoded = frame.select(pl.struct(series.name).struct.json_encode()).to_series()
    fields = encoded.str.slice(1, encoded.str.len_chars() - 2)
    return frame.select(
        pl.when(pl.col(series.name).is_not_null()).then(fields).alias(series.name)
    ).to_series()


def is_missing(texts: pl.Series) -> pl.Series:
    """Return which texts say that there is no value: empty ones, and words such as NA."""
    return texts.str.strip_chars().str.to_lowercase().is_in(MISSING).fill_null(value=False)


def number(series: pl.Series) -> Converted:
    """Return numbers, `85 %` as 0.85 and `$1,000.5` as 1000.5; NaN and words as NA are NULL."""
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        return series.cast(pl.Float64).fill_nan(None), _none(series)
    text = as_text(series)
    values = text.cast(pl.Float64, strict=False)
    if values.null_count() == text.null_count():
        return values.fill_nan(None), _none(series)
    # Some are not plain numbers.
    text = text.str.strip_chars().str.replace(_DOLLARS, "${1}")
    is_grouped = text.str.contains(_WITH_POINT)
    if is_grouped.any():
        ungrouped = text.str.replace_all(",", "", literal=True)
        text = pl.select(pl.when(is_grouped).then(ungrouped).otherwise(text)).to_series()
    is_percent = text.str.ends_with("%")
    plain = text.str.strip_suffix("%").str.strip_chars().cast(pl.Float64, strict=False)
    values = pl.select(pl.when(is_percent).then(plain / 100).otherwise(plain)).to_series()
    missing = is_missing(text)
    values = values.fill_nan(None).set(missing, None)
    return values, values.is_null() & text.is_not_null() & ~missing & ~plain.is_nan().fill_null(
        value=False
    )


def finite_number(series: pl.Series) -> Converted:
    """Return finite numbers; an infinity cannot be converted."""
    values, bad = number(series)
    is_infinite = values.is_infinite().fill_null(value=False)
    return values.set(is_infinite, None), bad | is_infinite


def integer(series: pl.Series) -> Converted:
    """Return integers."""
    values, bad = finite_number(series)
    # Larger floats do not have all integers.
    is_exact = (values == values.floor()) & (values.abs() < _INEXACT_FROM)
    is_broken = ~is_exact.fill_null(value=True)
    whole = values.set(is_broken, None).cast(pl.Int64)
    return whole, bad | is_broken


def boolean(series: pl.Series) -> Converted:
    """Return booleans: words such as yes and fail, marks such as ✓, or 0 and 1."""
    if series.dtype == pl.Boolean:
        return series, _none(series)
    words = as_text(series).str.strip_chars().str.to_lowercase().str.strip_suffix(_COLOURED)
    is_true, is_false = (words.is_in(each).fill_null(value=False) for each in (TRUE, FALSE))
    values = pl.select(
        pl.when(is_true).then(pl.lit(value=True)).when(is_false).then(pl.lit(value=False))
    ).to_series()
    bad = values.is_null() & words.is_not_null() & ~is_missing(words)
    return values, bad


def score(series: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return scores as finite numbers, or else as text; both NULL where there is none."""
    if series.dtype == pl.String:
        words = series.str.strip_chars().str.to_lowercase().str.strip_suffix(_COLOURED)
        is_word = words.is_in([*_TRUE_WORDS, *_FALSE_WORDS]).fill_null(value=False)
        if is_word.any():
            flags, _ = boolean(series)
            series = pl.select(
                pl.when(is_word).then(flags.cast(pl.Int8).cast(pl.String)).otherwise(series)
            ).to_series()
    values, bad = number(series)
    is_finite = values.is_finite().fill_null(value=False)
    is_text = (bad | values.is_not_null()) & ~is_finite
    text = pl.select(pl.when(is_text).then(as_text(series))).to_series()
    return values.set(~is_finite, None), text


def duration(series: pl.Series, unit: str | None) -> Converted:
    """Return seconds of durations such as `1.2s` and `350 ms`.

    Args:
        series: the durations.
        unit: `ms` or `s`, of numbers that name none; None if these cannot be converted.
    """
    values, bad = finite_number(series)
    if unit is not None and not bad.any():
        return values / 1000 if unit == "ms" else values, bad
    text = as_text(series).str.strip_chars()
    has_unit = text.str.contains(_WITH_UNIT).fill_null(value=False)
    units = text.str.replace(_WITH_UNIT, "${2}").str.to_lowercase().set(~has_unit, unit or "")
    values, bad = finite_number(text.str.replace(_WITH_UNIT, "${1}"))
    seconds = pl.lit(None, pl.Float64)
    for unit_form, (factor, divisor) in _UNITS.items():
        is_unit = units.str.contains(unit_form)
        seconds = pl.when(is_unit).then(values * factor / divisor).otherwise(seconds)
    found = pl.select(seconds).to_series()
    return found, bad | (found.is_null() & values.is_not_null())


def decimal_points(series: pl.Series) -> pl.Series:
    """Return numbers with decimal commas as those with points; anything else as it is."""
    if series.dtype != pl.String:
        return series
    text = series.str.strip_chars()
    is_grouped = text.str.contains(_COMMA) | text.str.contains(_THOUSANDS)
    points = text.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    return (
        pl.select(pl.when(is_grouped).then(points).otherwise(series)).to_series().alias(series.name)
    )


def has_decimal_comma(series: pl.Series) -> bool:
    """Return whether any value has a comma that cannot be one between thousands."""
    if series.dtype != pl.String:
        return False
    return bool(series.str.strip_chars().str.contains(_CLEAR_COMMA).any())


def moment(series: pl.Series) -> Converted:
    """Return times in UTC: of ISO 8601 (UTC if it names no offset), or since 1970.

    A date without a time is NULL; `date_text` returns it.
    """
    if series.dtype.is_temporal():
        if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        is_date = series.dtype == pl.Date
        times = series.cast(pl.Datetime("us")) if not is_date else _nulls(series)
        return times, _none(series)
    text = as_text(series)
    times = text.str.to_datetime(_PLAIN, strict=False, time_unit="us")
    if times.null_count() == text.null_count():
        return times, _none(series)
    # Some are written in other ways.
    text = text.str.strip_chars()
    iso = text.str.replace(_MOMENT, "${1}T${2}${3}")
    has_offset = iso.str.contains(r"[+-]\d{2}:\d{2}$")
    full = pl.select(
        pl.when(text.str.contains(_MOMENT)).then(
            pl.when(has_offset).then(iso).otherwise(iso + "+00:00")
        )
    ).to_series()
    times = full.str.to_datetime(_ISO, strict=False, time_unit="us", time_zone="UTC")
    times = times.dt.replace_time_zone(None)
    epoch = _since_1970(series)
    known = pl.select(pl.coalesce(times, epoch)).to_series()
    is_other = text.str.contains(_DATE) | is_missing(text)
    bad = known.is_null() & text.is_not_null() & ~is_other.fill_null(value=False)
    return known, bad


def date_text(series: pl.Series) -> pl.Series:
    """Return dates without a time, as text."""
    if series.dtype == pl.Date:
        return series.dt.to_string("%Y-%m-%d")
    if series.dtype.is_temporal():
        return pl.repeat(None, len(series), dtype=pl.String, eager=True)
    text = as_text(series).str.strip_chars()
    return pl.select(pl.when(text.str.contains(_DATE)).then(text)).to_series()


def json_list(series: pl.Series) -> Converted:
    """Return lists as JSON text."""
    text = as_text(series)
    wrong = [value for value in text.unique().to_list() if value and not _is_list(value)]
    bad = text.is_in(wrong).fill_null(value=False)
    return text.set(bad, None), bad


def _is_list(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list)
    except (ValueError, RecursionError):
        return False


def _since_1970(series: pl.Series) -> pl.Series:
    values, _ = finite_number(series)
    chosen: pl.Expr = pl.lit(None, pl.Float64)
    for least, microseconds in _EPOCH_UNITS:
        chosen = pl.when(values >= least).then(values * microseconds).otherwise(chosen)
    return pl.select(chosen.round().cast(pl.Int64).cast(pl.Datetime("us"))).to_series()


def _none(series: pl.Series) -> pl.Series:
    return pl.repeat(value=False, n=len(series), eager=True)


def _nulls(series: pl.Series) -> pl.Series:
    return pl.repeat(None, len(series), dtype=pl.Datetime("us"), eager=True)


def _without_name(fields: pl.Series) -> pl.Series:
    """Return the values of `json_fields` without the names."""
    prefix = len(json.dumps(fields.name, ensure_ascii=False)) + 1
    return fields.str.slice(prefix)
