// The rows of the table: loads them piece by piece, filters, searches and sorts them.
"use strict";

(() => {
  const { pieces } = evalstore;
  const LOADED_AT_ONCE = 100_000;
  const PIECES_AT_ONCE = 8;
  const MOST_DISTINCT = 500;
  const SEARCHED = ["task_id", "task_name", "task_set", "model", "settings", "failure", "answer",
    "prompt"];

  /**
   * A row: a sample as the table shows it.
   * @typedef {object} Row
   * @property {any} run the run
   * @property {number} number its number in the run
   * @property {any[]} values by the places of the run's `row_fields`
   * @property {string} text what a search looks through, in lower case
   */

  class Rows {
    constructor(/** @type {any[]} */ runs) {
      this.runs = runs;
      /** @type {Row[]} */
      this.all = [];
      this.n = runs.reduce((sum, run) => sum + run.n_kept, 0);
      this.pending = runs.flatMap((run) =>
        run.rows.map((/** @type {number} */ _, /** @type {number} */ at) => ({ run, at })));
      this.fields = runs[0].row_fields;
      this.place = new Map(this.fields.map((/** @type {string} */ name, /** @type {number} */ at) =>
        [name, at]));
      this.limit = 0;
      /** @type {Map<string, any[]>} */
      this.found = new Map();
    }

    /** Return the different values of a field that are known, as many as could be of interest. */
    distinct(/** @type {string} */ name) {
      const known = this.found.get(name);
      if (known) return known;
      const place = /** @type {number} */ (this.place.get(name));
      const values = new Set();
      for (const row of this.all) {
        if (row.values[place] !== null) values.add(row.values[place]);
        if (values.size >= MOST_DISTINCT) break;
      }
      const found = [...values];
      this.found.set(name, found);
      return found;
    }

    /** Return a value of a row by the name of its field. */
    value(/** @type {Row} */ row, /** @type {string} */ name) {
      return row.values[/** @type {number} */ (this.place.get(name))];
    }

    /** Load up to a hundred thousand more rows; call `onRows` after each few pieces. */
    async loadMore(/** @type {() => void} */ onRows) {
      this.limit += LOADED_AT_ONCE;
      while (this.pending.length > 0 && this.all.length < this.limit) {
        const next = this.pending.splice(0, PIECES_AT_ONCE);
        const loaded = await Promise.all(next.map(({ run, at }) =>
          pieces.load(pieces.numbered(`${run.folder}/rows`, at))));
        next.forEach(({ run }, at) => this.add(run, loaded[at]));
        onRows();
      }
    }

    add(/** @type {any} */ run, /** @type {[number, any[]][]} */ values) {
      this.found.clear();
      const places = SEARCHED.map((name) => this.place.get(name));
      for (const [number, fields] of values) {
        const text = places.map((place) => fields[/** @type {number} */ (place)] ?? "").join("\n");
        this.all.push({ run, number, values: fields, text: text.toLowerCase() });
      }
    }

    /** Return `passed`, `failed`, `error` (no answer) or `unknown` (nothing judged the answer). */
    outcome(/** @type {Row} */ row) {
      const passed = this.value(row, "passed");
      if (passed === true) return "passed";
      if (this.value(row, "failure") !== null) return "error";
      return passed === false ? "failed" : "unknown";
    }

    /**
     * Return the rows that a state asks for, in its order.
     * @param {any} state see `state.js`
     * @returns {Row[]}
     */
    chosen(state) {
      const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
      // A word that the run itself has, such as a tag, need not be in its rows.
      const left = new Map(this.runs.map((run) => {
        const text = describedRun(run);
        return [run, words.filter((/** @type {string} */ word) => !text.includes(word))];
      }));
      const equal = [["model", state.model], ["task_set", state.set], ["task_id", state.task]]
        .filter(([, value]) => value)
        .map(([name, value]) => [this.place.get(name), value]);
      const found = this.all.filter((row) => {
        for (const [place, value] of equal) if (row.values[place] !== value) return false;
        if (state.outcome && this.outcome(row) !== state.outcome) return false;
        for (const word of left.get(row.run) ?? []) if (!row.text.includes(word)) return false;
        return true;
      });
      return state.sort ? this.sorted(found, state.sort) : found;
    }

    sorted(/** @type {Row[]} */ rows, /** @type {string} */ sort) {
      const isDown = sort.startsWith("-");
      const name = isDown ? sort.slice(1) : sort;
      const place = this.place.get(name);
      if (place === undefined && name !== "outcome") return rows;
      const keys = new Map(rows.map((row) =>
        [row, name === "outcome" ? this.outcome(row) : row.values[/** @type {number} */ (place)]]));
      const sign = isDown ? -1 : 1;
      return rows.slice().sort((one, two) => {
        const [a, b] = [keys.get(one), keys.get(two)];
        // What is not known is last in both directions.
        if (a === null || b === null) return Number(a === null) - Number(b === null);
        return a < b ? -sign : Number(a > b) * sign;
      });
    }
  }

  function describedRun(/** @type {any} */ run) {
    const tags = run.tags.map(([name, value]) => `${name}=${value}`);
    return [run.suite, run.run_id, ...tags].join("\n").toLowerCase();
  }

  evalstore.Rows = Rows;
})();
