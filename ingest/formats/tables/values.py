"""Converts columns of text, or of Parquet's types, into numbers, booleans and times.

Each function returns the values and a mask of those that cannot be converted. What a value means
never depends on other rows, so that a table means the same in blocks of any size.
"""

from __future__ import annotations

import json
from typing import TypeAlias

import polars as pl

Converted: TypeAlias = tuple[pl.Series, pl.Series]

MISSING = ("", "na", "n/a", "nan", "null", "none", "-")
TRUE = ("true", "yes", "pass", "passed", "correct", "1", "1.0")
FALSE = ("false", "no", "fail", "failed", "incorrect", "0", "0.0")

_DATE = r"^\d{4}-\d{2}-\d{2}$"
_MOMENT = r"^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d+)?) ?([+-]\d{2}:\d{2})?[Zz]?$"
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


def number(series: pl.Series) -> Converted:
    """Return numbers, `85%` as 0.85; NaN and words such as NA are NULL."""
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        return series.cast(pl.Float64).fill_nan(None), _none(series)
    text = as_text(series)
    values = text.cast(pl.Float64, strict=False)
    if values.null_count() == text.null_count():
        return values.fill_nan(None), _none(series)
    # Some are not plain numbers.
    text = text.str.strip_chars()
    is_percent = text.str.ends_with("%")
    plain = text.str.strip_suffix("%").str.strip_chars().cast(pl.Float64, strict=False)
    values = pl.select(pl.when(is_percent).then(plain / 100).otherwise(plain)).to_series()
    is_missing = text.str.to_lowercase().is_in(MISSING).fill_null(value=False)
    values = values.fill_nan(None).set(is_missing, None)
    return values, values.is_null() & text.is_not_null() & ~is_missing & ~plain.is_nan().fill_null(
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
    """Return booleans: words such as yes and fail, or 0 and 1."""
    if series.dtype == pl.Boolean:
        return series, _none(series)
    words = as_text(series).str.strip_chars().str.to_lowercase()
    is_true, is_false = (words.is_in(each).fill_null(value=False) for each in (TRUE, FALSE))
    values = pl.select(
        pl.when(is_true).then(pl.lit(value=True)).when(is_false).then(pl.lit(value=False))
    ).to_series()
    bad = values.is_null() & words.is_not_null() & ~words.is_in(MISSING).fill_null(value=False)
    return values, bad


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
    is_other = text.str.contains(_DATE) | text.str.to_lowercase().is_in(MISSING)
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
