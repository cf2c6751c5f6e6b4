// Figures as the other pages write them.
"use strict";

(() => {
  const UNITS = /** @type {[number, string][]} */ ([[60_000, "min"], [1_000, "s"]]);

  /** Return a time in the unit that suits it. */
  function duration(/** @type {number | null} */ ms) {
    if (ms === null) return "";
    for (const [size, unit] of UNITS) {
      if (ms >= size) return `${(ms / size).toFixed(1)} ${unit}`;
    }
    return `${ms.toFixed(0)} ms`;
  }

  /** Return a cost in US dollars, with at least two digits that say something. */
  function money(/** @type {number | null} */ usd) {
    if (usd === null) return "";
    if (usd === 0) return "$0";
    const digits = usd >= 1 ? 2 : Math.min(12, 1 - Math.floor(Math.log10(usd)));
    return `$${usd.toFixed(Math.max(2, digits))}`;
  }

  /** Return a score with at most four digits after the point. */
  function score(/** @type {number | null} */ value) {
    return value === null ? "" : String(Number(value.toFixed(4)));
  }

  const OUTCOMES = {
    passed: "passed",
    failed: "failed",
    error: "no answer",
    unknown: "no verdict",
  };

  Object.assign(evalstore, { duration, money, score, OUTCOMES });
})();
