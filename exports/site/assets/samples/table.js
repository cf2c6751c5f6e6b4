// Draws the table of samples: filters, headers that sort, one page of rows.
"use strict";

(() => {
  const { element, visible, count, state: states, duration, money, score, OUTCOMES } = evalstore;
  const ROWS = 100;

  /** Columns: field to sort by, header, whether it holds numbers, and what a cell shows. */
  const COLUMNS = [
    ["task_id", "task", false, taskCell],
    ["model", "model", false, (/** @type {any} */ get) =>
      [visible(get("model") ?? "unknown"), get("settings") && small(visible(get("settings")))]],
    ["attempt", "attempt", true, (/** @type {any} */ get) => [get("attempt")]],
    ["outcome", "verdict", false, verdictCell],
    ["answer", "answer", false, (/** @type {any} */ get) =>
      [element("div", { class: "cut" }, visible(get("answer") ?? "").trim())]],
    ["score", "score", true, scoreCell],
    ["latency_ms", "latency", true, (/** @type {any} */ get) => [duration(get("latency_ms"))]],
    ["tokens", "tokens", true, (/** @type {any} */ get) =>
      [get("tokens") === null ? "" : count(get("tokens"))]],
    ["cost_usd", "cost", true, (/** @type {any} */ get) => [money(get("cost_usd"))]],
  ];

  function small(/** @type {string} */ text) {
    return element("small", {}, text);
  }

  function taskCell(/** @type {any} */ get, /** @type {string} */ address) {
    const name = get("task_id") ?? get("task_name") ?? "unknown";
    const prompt = get("prompt");
    return [
      element("a", { href: address, class: "sample" }, visible(name)),
      prompt && small(visible(prompt)),
    ];
  }

  function verdictCell(/** @type {any} */ get, _, /** @type {string} */ outcome) {
    const reason = get("failure");
    return [badge(outcome), reason && small(visible(reason))];
  }

  function scoreCell(/** @type {any} */ get) {
    return [score(get("score")), get("score") !== null && small(visible(get("score_name")))];
  }

  /** Return an outcome as a mark with its name. */
  function badge(/** @type {keyof typeof OUTCOMES} */ outcome) {
    return element("span", { class: `outcome ${outcome}` }, OUTCOMES[outcome]);
  }

  /**
   * Return the table of the rows of one page, and what is left.
   * @param {any} rows the rows, see `rows.js`
   * @param {any[]} found rows that the filters leave, in order
   * @param {any} state
   * @param {(row: any) => string} refer returns how an address names a sample
   */
  function table(rows, found, state, refer) {
    const first = Math.min(state.page, lastPage(found)) * ROWS;
    const shown = found.slice(first, first + ROWS);
    const columns = COLUMNS.filter(([name]) => isUseful(rows, String(name)));
    const head = element("tr", {}, ...columns.map((column) => header(column, state)));
    const body = element("tbody", {}, ...shown.map((row) => {
      const get = (/** @type {string} */ name) => rows.value(row, name);
      const address = states.write({ ...state, sample: refer(row) });
      const cells = columns.map(([, , isNumber, cell]) =>
        element("td", isNumber ? { class: "n" } : { dir: "auto" },
          .../** @type {any} */ (cell)(get, address, rows.outcome(row))));
      return element("tr", {}, ...cells);
    }));
    return element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Samples" },
      element("table", { class: "samples" }, element("thead", {}, head), body));
  }

  /** Return whether a column says anything: not the model of a run with one, or scores of none. */
  function isUseful(/** @type {any} */ rows, /** @type {string} */ name) {
    if (["task_id", "outcome", "answer"].includes(name)) return true;
    const n = rows.distinct(name).length;
    return name === "model" || name === "attempt" ? n > 1 : n > 0;
  }

  function header(/** @type {any[]} */ [name, title, isNumber], /** @type {any} */ state) {
    const isUp = state.sort === name;
    const isDown = state.sort === `-${name}`;
    // The first click on a number shows the largest first.
    const next = isNumber
      ? (isDown ? name : isUp ? "" : `-${name}`)
      : (isUp ? `-${name}` : isDown ? "" : name);
    const link = element("a", { href: states.write({ ...state, sort: next, page: 0 }) }, title);
    const order = isUp ? "ascending" : isDown ? "descending" : null;
    return element("th", { scope: "col", class: isNumber ? "n" : null, "aria-sort": order }, link);
  }

  /** Return links to the pages of the table, if there are several. */
  function pager(/** @type {any[]} */ found, /** @type {any} */ state) {
    const last = lastPage(found);
    const page = Math.min(state.page, last);
    if (last === 0) return null;
    const to = (/** @type {number} */ number, /** @type {string} */ text) =>
      number >= 0 && number <= last && number !== page
        ? element("a", { href: states.write({ ...state, page: number }) }, text)
        : element("span", { class: "pale" }, text);
    const from = page * ROWS;
    const range = `${count(from + 1)} to ${count(Math.min(from + ROWS, found.length))}`;
    return element("nav", { class: "pager", "aria-label": "Pages of the table" },
      to(0, "first"), to(page - 1, "previous"), element("span", {}, range),
      to(page + 1, "next"), to(last, "last"));
  }

  function lastPage(/** @type {any[]} */ found) {
    return Math.max(0, Math.ceil(found.length / ROWS) - 1);
  }

  evalstore.table = { table, pager, badge };
})();
