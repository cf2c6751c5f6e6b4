// Draws a sample: prompt, reference, answer, verdict and why, scores, conversation, the record.
"use strict";

(() => {
  const { element, visible, shown, longText, count, duration, money, score } = evalstore;
  const MOST_MESSAGES = 50;

  /** Return what became of a sample: passed, failed, error or unknown. */
  function outcome(/** @type {any} */ record) {
    if (record.passed === true) return "passed";
    if (record.success !== true) return "error";
    return record.passed === false ? "failed" : "unknown";
  }

  /** Return the sentence that says where a verdict comes from, and why it is so. */
  function why(/** @type {any} */ record) {
    const says = [];
    if (record.success !== true) says.push(record.failure_type ?? record.availability_status);
    if (record.violation) says.push(record.violation);
    for (const each of record.scores ?? []) {
      if (each.metric === "passed" && each.explanation && each.explanation !== record.violation) {
        says.push(each.explanation);
      }
    }
    if (record.verdict_source === "recorded") says.push("as the log says");
    if (record.verdict_source === "computed") says.push("as evalstore computes it");
    const { recorded, computed } = record;
    if (recorded !== null && computed !== null && recorded !== computed) {
      says.push(`the rule gives ${computed ? "passed" : "failed"}`);
    }
    return [...new Set(says.filter(Boolean))].join("; ");
  }

  /** Return the texts that were sent: the prompt, or the question where it is not recorded. */
  function prompt(/** @type {any} */ record) {
    const task = record.tasks?.[0];
    return record.prompt ?? task?.question ?? task?.prompt ?? null;
  }

  /** Return the text of the answer. */
  function answer(/** @type {any} */ record) {
    return record.raw_output ?? record.answer;
  }

  /** Return a section of a sample; null if it has nothing to show. */
  function section(/** @type {string} */ title, /** @type {(Node | null | false)[]} */ ...nodes) {
    const found = nodes.filter((node) => node);
    return found.length === 0 ? null
      : element("section", {}, element("h3", {}, title), ...found);
  }

  function text(/** @type {string | null | undefined} */ value) {
    return value === null || value === undefined || value === "" ? null : longText(value);
  }

  /** Return the facts of a call as names and values. */
  function facts(/** @type {any} */ record) {
    const known = /** @type {[string, string | null][]} */ ([
      ["latency", duration(record.latency_ms)],
      ["first token", record.ttft_ms === null ? "" : duration(Number(record.ttft_ms))],
      ["tokens in", number(record.input_tokens)],
      ["tokens out", number(record.output_tokens)],
      ["cost", record.is_cached ? "from a cache" : money(record.cost_usd)],
      ["attempt", String(record.attempt)],
      ["started", record.started_at?.slice(0, "2026-01-31 12:00:00".length) ?? ""],
      ["settings", record.settings],
      ["counted in", record.duplicate_of],
    ]).filter(([, value]) => value);
    return element("dl", { class: "facts" }, ...known.map(([name, value]) =>
      element("div", {}, element("dt", {}, name), element("dd", { dir: "auto" }, visible(String(value))))));
  }

  function number(/** @type {number | string | null} */ value) {
    return typeof value === "number" ? count(value) : value ?? "";
  }

  function reference(/** @type {any} */ record) {
    const tasks = record.tasks ?? [];
    const parts = [];
    if (tasks.length > 1) {
      parts.push(element("p", { class: "pale" },
        `The result does not say which of ${tasks.length} versions of its task it answers.`));
    }
    const seen = new Set();
    for (const task of tasks) {
      const key = JSON.stringify([task.reference, task.target, task.choices, task.expected_tools]);
      if (seen.has(key)) continue;
      seen.add(key);
      parts.push(text(task.reference ?? task.target));
      const choices = listed(task.choices);
      if (choices.length > 0) parts.push(list("choices", choices));
      if (task.expected_tools?.length) parts.push(list("expected tools", task.expected_tools));
      if (task.image_url) parts.push(element("p", {}, "image: ", element("code", {}, shown(task.image_url))));
    }
    return parts;
  }

  /** Return the texts of a JSON list; other JSON as one text. */
  function listed(/** @type {string | null} */ json) {
    if (json === null) return [];
    try {
      const values = JSON.parse(json);
      if (!Array.isArray(values)) return [json];
      return values.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
    } catch {
      return [json];
    }
  }

  function list(/** @type {string} */ title, /** @type {string[]} */ values) {
    return element("div", {}, element("p", { class: "pale" }, title),
      element("ul", {}, ...values.map((each) => element("li", { dir: "auto" }, shown(each ?? "")))));
  }

  /** Return the table of scores, with who gave each and why. */
  function scores(/** @type {any} */ record) {
    const given = record.scores ?? [];
    if (given.length === 0) return null;
    const columns = /** @type {[string, (each: any) => any][]} */ ([
      ["value", (each) => (each.value === null
        ? element("div", { class: "words" }, visible(each.text ?? "unknown")) : score(each.value))],
      ["verdict", (each) => ({ true: "passed", false: "failed" })[String(each.passed)]],
      ["scorer", (each) => visible(each.scorer ?? "")],
      ["answer read", (each) => visible(each.answer ?? "")],
      ["why", (each) => text(each.explanation)],
    ]).filter(([, cell]) => given.some((/** @type {any} */ each) => cell(each)));
    const kind = (/** @type {string} */ title) =>
      (title === "value" ? "n" : title === "why" ? "why" : null);
    const row = (/** @type {any} */ each) => element("tr", {},
      element("th", { scope: "row", dir: "auto" }, visible(name(each))),
      ...columns.map(([title, cell]) => element("td", { class: kind(title), dir: "auto" }, cell(each))));
    return element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Scores" },
      element("table", {},
        element("thead", {}, element("tr", {}, ...["score", ...columns.map(([title]) => title)].map(
          (title) => element("th", { scope: "col", class: kind(title) }, title)))),
        element("tbody", {}, ...given.map(row))));
  }

  function name(/** @type {any} */ given) {
    return given.filter === null ? given.metric : `${given.metric} (${given.filter})`;
  }

  /** Return the messages of a conversation, the first ones at once. */
  function conversation(/** @type {any} */ record) {
    const messages = record.messages ?? [];
    if (messages.length === 0) return null;
    const items = element("ol", { class: "messages" });
    const button = element("button", { type: "button", onclick: more });
    const all = element("div", {}, items, button);
    more();
    return all;

    function more() {
      const next = messages.slice(items.children.length, items.children.length + MOST_MESSAGES);
      items.append(...next.map(message));
      const left = messages.length - items.children.length;
      button.hidden = left === 0;
      button.textContent = `Show ${Math.min(left, MOST_MESSAGES)} more of ${count(left)} messages`;
    }
  }

  function message(/** @type {any} */ each) {
    return element("li", {},
      element("p", { class: "role" }, visible(each.role ?? "message")),
      text(each.text),
      each.tool_calls && pretty(each.tool_calls),
      each.error && element("div", { class: "error" }, text(each.error)));
  }

  /** Return JSON text laid out for reading, or the text as it is. */
  function pretty(/** @type {string} */ json) {
    try {
      return longText(JSON.stringify(JSON.parse(json), null, 2));
    } catch {
      return longText(json);
    }
  }

  function tools(/** @type {any} */ record) {
    return record.tool_calls?.length ? list("", record.tool_calls).lastElementChild : null;
  }

  /** Return the record of the log, if it is kept, and all columns that are known. */
  function source(/** @type {any} */ record) {
    const columns = Object.entries(record).filter(([key, value]) =>
      value !== null && !["scores", "messages", "tasks", "source", "more", "trial_page"].includes(key));
    return element("details", {},
      element("summary", {}, "The record as it came"),
      record.source === null
        ? element("p", { class: "pale" }, "The columns hold the whole record of the log.")
        : pretty(record.source),
      element("dl", { class: "columns" }, ...columns.flatMap(([key, value]) => [
        element("dt", {}, key),
        element("dd", {}, text(typeof value === "string" ? value : JSON.stringify(value))),
      ])));
  }

  /** Return everything about a sample below its heading. */
  function body(/** @type {any} */ record) {
    const parsed = record.answer !== null && record.answer !== answer(record);
    return [
      facts(record),
      // What only a server adds.
      .../** @type {any} */ (globalThis).evalstoreView?.links(record) ?? [],
      section("Prompt", text(prompt(record))),
      section("Reference", ...reference(record)),
      section("Answer", text(answer(record)) ?? element("p", { class: "pale" }, "No answer."),
        record.raw_output_truncated === true
          && element("p", { class: "pale" }, "The log holds only the start of the answer.")),
      parsed && section("Answer as it was read", text(record.answer)),
      record.parsed_output !== null && section("Parsed output", pretty(record.parsed_output)),
      section("Scores", scores(record)),
      section("Tool calls", tools(record)),
      section("Conversation", conversation(record)),
      source(record),
    ].filter((node) => node);
  }

  evalstore.record = { outcome, why, prompt, answer, facts, scores, reference, body, section };
})();
