// Rates answers: those of a queue one after the other, or one that somebody chose.
"use strict";

(() => {
  const { ratings, element, shown, longText, count } = /** @type {any} */ (globalThis).evalstore;
  const at = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
  const PARTS = ["prompt", "answer", "reference"];
  const EMPTY = { prompt: "(no prompt is recorded)", answer: "(empty)", reference: "" };
  const { queue, suite, run, result } = at("work").dataset;
  const chosen = { suite, run_id: run, result_id: result };
  const UNRATED = { label: "", note: "", reference: "", is_wrong: false };
  /** @type {({id: string} & typeof UNRATED)[]} */
  let answers = [{ id: "", ...UNRATED }];
  /** @type {Record<string, string>} */
  let keys = {};
  let place = 0;
  /** What was there before each rating, the last at the end. @type {({place: number} & typeof UNRATED)[]} */
  const before = [];
  /** Texts that were asked for, by answer. @type {Map<string, Promise<any>>} */
  const texts = new Map();

  function about(/** @type {string} */ id) {
    return queue === undefined ? chosen : { queue, id };
  }

  function textsOf(/** @type {string} */ id) {
    const asked = texts.get(id) ?? ratings.get("view/review/answer", about(id));
    texts.delete(id);
    texts.set(id, asked);
    for (const old of [...texts.keys()].slice(0, -3)) texts.delete(old);
    return asked;
  }

  /** Show a text, and a button for all of it if it was cut. */
  function showText(/** @type {string} */ part, /** @type {string} */ id, /** @type {any} */ found) {
    const text = found[part] || EMPTY[/** @type {"prompt"} */ (part)];
    const nodes = [longText(text)];
    nodes[0].querySelector("pre").setAttribute("role", "group");
    nodes[0].querySelector("pre").setAttribute("aria-label", part);
    if (found.sizes[part] > (found[part] ?? "").length) {
      const load = async () => {
        showText(part, id, { ...await ratings.get("view/review/answer", { ...about(id), all: part }),
          sizes: { [part]: 0 } });
      };
      nodes.push(element("button", { type: "button", onclick: load },
        `Load all ${count(found.sizes[part])} characters`));
    }
    at(part).replaceChildren(...nodes);
  }

  async function go(/** @type {number} */ to, isFocused = true) {
    place = to;
    const { id, note, reference, is_wrong: isWrong } = answers[place];
    at("place").textContent = queue === undefined ? "The answer" : `Answer ${place + 1} of ${answers.length}`;
    at("note").value = note;
    at("is-wrong").checked = isWrong;
    at("corrected").value = reference;
    for (const part of PARTS) at(part).replaceChildren();
    update();
    if (isFocused) at("place").focus({ preventScroll: false });
    try {
      const found = await textsOf(id);
      if (answers[place].id !== id) return;
      for (const part of PARTS) showText(part, id, found);
      at("known").hidden = found.reference === null;
      const next = unrated();
      if (next !== undefined && queue !== undefined) void textsOf(answers[next].id).catch(() => {});
    } catch (error) {
      texts.delete(id);
      tell(/** @type {Error} */ (error).message, true);
    }
  }

  function update() {
    const n = answers.filter(({ label }) => label).length;
    at("progress").max = answers.length;
    at("progress").value = n;
    at("count").textContent = `${n} of ${answers.length} rated`;
    at("undo").disabled = before.length === 0;
    for (const button of at("labels").children) {
      button.setAttribute("aria-pressed", String(button.dataset.label === answers[place].label));
    }
  }

  /** Return the place of the next answer without a label; undefined if there is none. */
  function unrated() {
    const order = answers.map((_, n) => (place + 1 + n) % answers.length);
    return order.find((n) => n !== place && !answers[n].label);
  }

  function send(/** @type {typeof UNRATED} */ rating) {
    Object.assign(answers[place], rating);
    const said = { ...rating, rater: ratings.rater.get() };
    if (queue === undefined) {
      const criterion = at("criterion").value;
      ratings.send("view/rate/rate", { ...said, ...chosen, criterion, scale: at("scale").value });
    } else {
      ratings.send("view/review/rate", { ...said, queue, answer: answers[place].id });
    }
  }

  function rate(/** @type {string} */ label) {
    before.push({ ...answers[place], place });
    send({ label, note: at("note").value, reference: at("corrected").value,
      is_wrong: at("is-wrong").checked });
    const next = unrated();
    const rated = place + 1;
    if (queue !== undefined && next !== undefined) void go(next);
    else update();
    at("said").textContent = queue !== undefined && next === undefined && answers.every((each) => each.label)
      ? "You have rated every answer of this queue." : `Answer ${rated}: ${label || "no label"}.`;
  }

  function undo() {
    const last = before.pop();
    if (last === undefined) return;
    const { place: to, label, note, reference, is_wrong } = last;
    place = to;
    send({ label, note, reference, is_wrong });
    void go(to);
    at("said").textContent = `Answer ${to + 1} is as before: ${label || "no label"}.`;
  }

  function skip() {
    const next = unrated();
    if (next === undefined) at("said").textContent = "There is no other answer without a label.";
    else void go(next);
  }

  function tell(/** @type {string} */ text, /** @type {boolean} */ isTrouble) {
    at("trouble").textContent = isTrouble ? text : "";
    if (!isTrouble && queue !== undefined) void showAgreement();
  }

  let nAsked = 0;
  async function showAgreement() {
    // Ratings that follow each other at once are asked about once.
    nAsked += 1;
    const own = nAsked;
    await new Promise((go) => { setTimeout(go, 300); });
    if (own !== nAsked) return;
    const found = await ratings.get("view/review/agreement", { queue, rater: ratings.rater.get() })
      .catch(() => []);
    const two = (/** @type {number} */ number) => number.toFixed(2);
    const lines = found.map((/** @type {any} */ { raters, n_answers: n, n_equal: equal, kappa, interval }) => {
      const start = `${raters.join(" and ")}: ${count(n)} ${n === 1 ? "answer" : "answers"} by both`;
      if (equal === null) return `${start}, too few to say how far you agree`;
      const ends = interval ? ` (95\u00a0% interval ${two(interval[0])} to ${two(interval[1])})` : "";
      return `${start}, ${count(equal)} alike, ${kappa === null ? "kappa not defined" : `kappa ${two(kappa)}${ends}`}`;
    });
    const said = lines.length > 0 ? lines : ["No other rater has rated these answers."];
    at("agreement").replaceChildren(...said.map((/** @type {string} */ line) =>
      element("li", { dir: "auto" }, shown(line))));
  }

  function showLabels(/** @type {string[]} */ labels, /** @type {Record<string, string>} */ byKey) {
    keys = byKey;
    const keyOf = new Map(Object.entries(byKey).map(([key, label]) => [label, key]));
    at("labels").replaceChildren(...labels.map((label) => {
      const key = keyOf.get(label);
      return element("button", { type: "button", "data-label": label, "aria-keyshortcuts": key,
        "aria-pressed": "false", onclick: () => rate(label) }, shown(label),
      key && key !== label && " ", key && key !== label && element("kbd", {}, key));
    }));
  }

  async function changeScale() {
    try {
      const { labels, keys: byKey } = await ratings.get("view/review/scale", { scale: at("scale").value });
      showLabels(labels, byKey);
      at("labels").setAttribute("aria-label", at("criterion").value);
      // What was said by another criterion or scale stays as it is.
      answers = [{ id: "", ...UNRATED, note: at("note").value }];
      before.length = 0;
      tell("", false);
    } catch (error) {
      at("labels").replaceChildren();
      tell(/** @type {Error} */ (error).message, true);
    }
    update();
  }

  async function begin() {
    const rater = ratings.rater.get();
    at("who").hidden = true;
    at("work").hidden = false;
    at("me").textContent = rater;
    try {
      if (queue === undefined) {
        await changeScale();
      } else {
        const found = await ratings.get("view/review/answers", { queue, rater });
        answers = found.answers;
        showLabels(found.labels, found.keys);
      }
    } catch (error) {
      ask(/** @type {Error} */ (error).message);
      return;
    }
    ratings.start(tell);
    before.length = 0;
    const first = answers.findIndex(({ label }) => !label);
    await go(Math.max(first, 0), false);
    if (queue !== undefined) await showAgreement();
  }

  function ask(text = "") {
    at("work").hidden = true;
    at("who").hidden = false;
    at("rater").value = ratings.rater.get();
    at("rater").setCustomValidity(text);
    if (text) at("rater").reportValidity();
    at("rater").focus();
  }

  at("rater").addEventListener("input", () => at("rater").setCustomValidity(""));
  at("who").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    ratings.rater.set(at("rater").value.trim());
    void begin();
  });
  at("other").addEventListener("click", () => ask());
  at("save").addEventListener("click", () => rate(answers[place].label));
  at("undo").addEventListener("click", undo);
  at("skip")?.addEventListener("click", skip);
  for (const name of ["criterion", "scale"]) at(name)?.addEventListener("change", changeScale);
  document.addEventListener("keydown", (event) => {
    const field = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || at("work").hidden) return;
    if (field.matches("input, textarea, select")) {
      if (event.key === "Escape") at("place").focus();
      return;
    }
    const actions = { n: () => at("note").focus(), s: at("skip") && skip, u: undo };
    const label = keys[event.key];
    const action = label === undefined ? actions[/** @type {"n"} */ (event.key)] : () => rate(label);
    if (event.repeat || !action) return;
    event.preventDefault();
    action();
  });
  if (ratings.rater.get()) void begin();
  else ask();
})();
