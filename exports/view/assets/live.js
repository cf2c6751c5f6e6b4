// Runs in progress, as the server sends them: on the overview and on a page of their own. Texts of
// models are set as text, never as HTML.
"use strict";

/**
 * @typedef {{model: string, settings: string, done: string, unanswered: string, passed: string,
 *   interval: string, tasks: string, unjudged: string, mark: ?Array<?string>}} ModelSoFar
 * @typedef {{task: string, model: string, outcome: string, is_bad: boolean, took: string,
 *   text: string}} LatestResult
 * @typedef {{suite: string, run_id: string, is_judging: boolean, page: string, state: string,
 *   label: string, says: string, note: string, done: number, planned: ?number,
 *   facts: Array<[string, string]>, models: Array<ModelSoFar>, n_more_models: number,
 *   failures: Array<[string, string, string]>, n_more_failures: number,
 *   latest: Array<LatestResult>}} LiveRun
 * @typedef {{runs: Array<LiveRun>, n_more: number, writing: Array<string>, problem: string}} State
 */

(() => {
  const place = document.getElementById("live");
  if (!place) return;
  const isFull = place.hasAttribute("data-full");
  /** @type {Map<string, ReturnType<typeof runView>>} */
  const views = new Map();
  const SVG = "http://www.w3.org/2000/svg";

  /**
   * @param {string} name @param {string} [kind] @param {string} [text]
   * @returns {HTMLElement} an element with a class and a text
   */
  const element = (name, kind = "", text = "") => {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    made.textContent = text;
    return made;
  };

  /** @param {HTMLElement} target @param {string} text sets a text, if it is another one */
  const say = (target, text) => {
    if (target.textContent !== text) target.textContent = text;
    target.hidden = !text;
  };

  /** @param {HTMLElement} target @param {string} text as `say`; `code` between backticks */
  const sayCode = (target, text) => {
    target.hidden = !text;
    if (target.dataset.text === text) return;
    target.dataset.text = text;
    const parts = text.split("`").map((part, at) => (at % 2 ? element("code", "", part) : part));
    target.replaceChildren(...parts);
  };

  /** @param {?Array<?string>} mark @returns {Element | string} a figure on its scale */
  const drawn = (mark) => {
    if (!mark) return "";
    const [value, low, high] = mark;
    const picture = document.createElementNS(SVG, "svg");
    picture.setAttribute("class", "mark lead");
    picture.setAttribute("viewBox", "0 0 100 12");
    picture.setAttribute("aria-hidden", "true");
    /** @param {string} name @param {Record<string, string>} values */
    const add = (name, values) => {
      const shape = document.createElementNS(SVG, name);
      for (const [key, text] of Object.entries(values)) shape.setAttribute(key, text);
      picture.append(shape);
    };
    if (low !== null && high !== null) add("line", { x1: low, x2: high, y1: "6", y2: "6" });
    add("circle", { cx: value ?? "0", cy: "6", r: "2.6" });
    return picture;
  };

  /**
   * @param {string} name what a screen reader calls the table
   * @param {Array<[string, string]>} columns title and class of each
   * @returns {{box: HTMLElement, heads: Array<HTMLElement>, fill: (rows: Array<Array<string | Node>>) => void}}
   */
  const tableView = (name, columns) => {
    const box = element("div", "wide");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", name);
    const table = element("table", "board");
    const head = element("tr");
    for (const [title, kind] of columns) {
      const cell = element("th", kind === "n" ? "n" : "", title);
      cell.setAttribute("scope", "col");
      head.append(cell);
    }
    const top = element("thead");
    top.append(head);
    const body = element("tbody");
    table.append(top, body);
    box.append(table);
    let before = "";
    return {
      box,
      heads: [...head.children],
      fill: (rows) => {
        box.hidden = !rows.length;
        const now = JSON.stringify(rows.map((row) => row.map((it) => (typeof it === "string" ? it : it.textContent))));
        if (now === before) return;
        before = now;
        body.replaceChildren(
          ...rows.map((row) => {
            const line = element("tr");
            row.forEach((content, at) => {
              const cell = element("td", columns[at][1]);
              cell.dir = "auto";
              cell.append(content);
              line.append(cell);
            });
            return line;
          }),
        );
      },
    };
  };

  /** @param {ModelSoFar} each @returns {Array<string | Node>} */
  const modelRow = (each) => {
    const name = element("span", "", each.model);
    if (each.settings) name.append(" ", element("small", "", each.settings));
    if (each.unjudged) name.append(" ", element("small", "warn", `${each.unjudged} answers without a verdict`));
    const span = element("span");
    const words = each.interval || (each.tasks ? "no interval" : "");
    span.append(drawn(each.mark), " ", element("small", "", words));
    return [name, each.done, each.unanswered, each.passed, span, each.tasks];
  };

  /** @param {LatestResult} each @returns {Array<string | Node>} */
  const resultRow = (each) => [
    element("span", each.is_bad ? "bad" : "", each.outcome),
    each.task,
    each.text,
    each.took,
    each.model,
  ];

  /** @param {LiveRun} first @returns a view of a run, and what brings it up to date */
  const runView = (first) => {
    const box = element("article", "live-run");
    const heading = element("h2");
    const name = element("bdi", "", first.run_id);
    const link = document.createElement("a");
    const label = element("span", "live-state");
    label.setAttribute("role", "status");
    heading.append(name, " ", element("small", "pale", first.is_judging ? "a judge's run" : first.suite), " ", label);
    const bar = document.createElement("progress");
    bar.setAttribute("aria-label", "Calls done");
    const says = element("p", "live-says");
    const note = element("p", "note");
    const facts = element("dl", "facts");
    const models = tableView(`Passed so far in ${first.run_id}`, [
      ["model", "name"], ["done", "n"], ["without an answer", "n"], ["passed", "n"], ["95\u00a0% interval", "drawn"],
      ["tasks", "n"]]);
    const more = element("p", "pale");
    const failures = tableView(`Calls without an answer in ${first.run_id}`, [
      ["calls", "n"], ["without an answer", ""], ["latest message", "name"]]);
    const latest = tableView(`Latest results of ${first.run_id}`, [
      ["result", ""], ["task", "name"], ["answer", "name"], ["took", "n"], ["model", "name"]]);
    box.append(heading, bar, says, note, facts, models.box, more, failures.box);
    if (isFull) box.append(latest.box);

    /** @param {LiveRun} run */
    const update = (run) => {
      box.dataset.state = run.state;
      box.dataset.done = String(run.done);
      if (run.page && !link.parentNode) {
        link.href = place.dataset.root + run.page;
        name.replaceWith(link);
        link.append(name);
      } else if (!run.page && link.parentNode) {
        link.replaceWith(name);
      }
      say(label, run.label);
      bar.hidden = run.planned === null;
      if (run.planned !== null) {
        bar.max = Math.max(run.planned, 1);
        bar.value = Math.min(run.done, run.planned);
      }
      sayCode(says, run.says);
      say(note, run.note);
      const pairs = run.facts.map(([title, text]) => {
        const pair = element("div");
        pair.append(element("dt", "", title), element("dd", "", text));
        return pair;
      });
      facts.replaceChildren(...pairs);
      say(models.heads[3], run.page ? "passed" : "passed so far");
      models.fill(isFull || run.models.length > 1 ? run.models.map(modelRow) : []);
      say(more, run.n_more_models ? `${run.n_more_models} more models not shown here.` : "");
      failures.fill(run.failures);
      latest.fill(run.latest.map(resultRow));
    };
    return { box, update };
  };

  const problem = element("p", "note");
  const writing = element("ul", "live-writing");
  const runs = element("div");
  const rest = element("p", "pale");
  const nothing = element("p", "pale");
  // The time of the page is that of its other figures.
  const live = element("span");
  document.querySelector(".as-of")?.append(live);
  place.append(problem, writing, runs, rest);
  if (isFull) place.append(nothing);

  /** @param {State} state */
  const show = (state) => {
    say(problem, state.problem);
    writing.hidden = !state.writing.length;
    const items = state.writing.map((text) => ({ item: element("li"), text }));
    for (const { item, text } of items) sayCode(item, text);
    writing.replaceChildren(...items.map(({ item }) => item));
    const keys = state.runs.map((run) => JSON.stringify([run.suite, run.run_id]));
    for (const [key, view] of views) {
      if (keys.includes(key)) continue;
      view.box.remove();
      views.delete(key);
    }
    state.runs.forEach((run, at) => {
      const view = views.get(keys[at]) ?? runView(run);
      views.set(keys[at], view);
      view.update(run);
      if (runs.children[at] !== view.box) runs.insertBefore(view.box, runs.children[at] ?? null);
    });
    say(rest, state.n_more ? `${state.n_more} more runs in progress.` : "");
    const isIdle = !state.runs.length && !state.writing.length && !state.problem;
    say(nothing, isIdle ? "Nothing is in progress. A run that begins is shown here at once." : "");
    place.hidden = isIdle && !isFull;
    say(live, place.hidden ? "" : "; what is in progress is live");
  };

  // A browser has few connections to a server: a page that is not seen keeps none.
  /** @type {?EventSource} */
  let source = null;
  const listen = () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (!source || source.readyState === EventSource.CLOSED) {
      source = new EventSource(place.dataset.events ?? "");
      source.onmessage = (event) => show(JSON.parse(event.data));
      source.onerror = () => {
        if (isFull || views.size) say(problem, "The server does not answer; what is shown may be old.");
      };
    }
  };
  document.addEventListener("visibilitychange", listen);
  listen();
})();
