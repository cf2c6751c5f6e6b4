// The list of runs whose samples can be browsed, with a search.
"use strict";

(() => {
  const { element, visible, count, runs } = evalstore;
  const ROWS = 200;
  const SHORT = 16;  // characters

  /** Fill a place of the page with the list. */
  async function list(/** @type {HTMLElement} */ place, /** @type {string} */ root) {
    const all = (await runs.list()).sort(byDate);
    for (const run of all) run.text = described(run);
    const search = element("input", { type: "search", id: "search", oninput: show,
      placeholder: "suite, run, model, task set or tag" });
    const number = element("p", { class: "pale", role: "status" });
    const body = element("tbody");
    const titles = ["run", "suite", "date", "models", "task sets", "tags", "samples", "passed", "failed"];
    place.replaceChildren(
      element("form", { class: "filters", role: "search", onsubmit: (/** @type {Event} */ event) =>
        event.preventDefault() }, element("label", { for: "search" }, "Search ", search)),
      number,
      element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Runs" },
        element("table", { class: "samples" },
          element("thead", {}, element("tr", {}, ...titles.map((title, at) =>
            element("th", { scope: "col", class: at > 5 ? "n" : null }, title)))), body)));
    addEventListener("keydown", (event) => {
      if (event.key !== "/" || document.activeElement === search) return;
      event.preventDefault();
      search.focus();
    });
    show();

    function show() {
      const words = /** @type {HTMLInputElement} */ (search).value.toLowerCase().split(/\s+/);
      const found = all.filter((run) => words.every((word) => run.text.includes(word)));
      body.replaceChildren(...found.slice(0, ROWS).map((run) => row(run, root)));
      number.textContent = `${count(found.length)} of ${count(all.length)} runs`
        + (found.length > ROWS ? `, the first ${ROWS} of them shown` : "");
    }
  }

  /** Order runs by date, the latest first; those without one come last. */
  function byDate(/** @type {any} */ one, /** @type {any} */ two) {
    const [a, b] = [one.run_date ?? "", two.run_date ?? ""];
    return a < b ? 1 : Number(a > b) * -1;
  }

  function row(/** @type {any} */ run, /** @type {string} */ root) {
    const cells = [
      element("a", { href: `${root}${run.folder}/index.html` }, visible(run.run_id)),
      visible(run.suite),
      run.run_date ?? "unknown",
      some(run.models),
      some(run.task_sets),
      some(tags(run)),
    ];
    const figures = [run.n_samples, ...(run.n_passed === null ? [] : [run.n_passed, run.n_failed])];
    const none = run.n_unanswered === run.n_samples ? "no answers" : "not judged";
    return element("tr", {},
      ...cells.map((cell) => element("td", { dir: "auto", class: isShort(cell) ? "whole" : null }, cell)),
      ...figures.map((figure) => element("td", { class: "n" }, count(figure))),
      run.n_passed === null && element("td", { class: "n pale", colspan: "2" }, none));
  }

  /** Return whether a cell is a text that fits into a narrow column. */
  function isShort(/** @type {any} */ cell) {
    return typeof cell === "string" && cell.length <= SHORT;
  }

  function some(/** @type {string[]} */ names) {
    const left = names.length - 3;
    return visible(names.slice(0, 3).join(", ")) + (left > 0 ? ` and ${left} more` : "");
  }

  function tags(/** @type {any} */ run) {
    return run.tags.map((/** @type {string[]} */ [name, value]) => `${name}=${value}`);
  }

  function described(/** @type {any} */ run) {
    return [run.suite, run.run_id, run.run_date ?? "", ...run.models, ...run.task_sets, ...tags(run)]
      .join("\n").toLowerCase();
  }

  evalstore.list = list;
})();
