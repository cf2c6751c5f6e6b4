"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const data = JSON.parse(at("data").textContent);
  const answers = data.answers;
  const keyOf = new Map(Object.entries(data.keys).map(([key, label]) => [label, key]));
  const isLabel = new Set(["", ...data.labels]);
  let place = 0;

  // A label is kept by itself, so that two windows do not undo each other's.
  const stored = (id) => `evalstore-labels/${data.sample}/${data.rater}/${id}`;

  function kept(id) {
    try {
      const found = JSON.parse(localStorage.getItem(stored(id)));
      const texts = found && [found.label, found.note, found.rated_at];
      return texts && texts.every((text) => typeof text === "string") && isLabel.has(found.label)
        ? found : null;
    } catch {
      return null;
    }
  }

  // What this browser has counts, unless the store has a newer label.
  const given = new Map(answers.map(({ id, label, note, rated_at }) => {
    const own = kept(id);
    return [id, own && own.rated_at > rated_at ? own : { label, note, rated_at }];
  }));

  function keep(change) {
    const { id } = answers[place];
    const now = { ...given.get(id), ...change, rated_at: new Date().toISOString() };
    given.set(id, now);
    try {
      localStorage.setItem(stored(id), JSON.stringify(now));
    } catch {
      at("warning").textContent =
        "This browser keeps nothing for this page: download the labels before you close it.";
    }
    show();
  }

  function show() {
    const { label } = given.get(answers[place].id);
    const done = answers.filter(({ id }) => given.get(id).label).length;
    at("progress").value = done;
    at("count").textContent = `${done} of ${answers.length} labelled`;
    for (const button of at("scale").children) {
      button.setAttribute("aria-pressed", String(button.dataset.label === label));
    }
  }

  function go(to) {
    place = Math.min(Math.max(to, 0), answers.length - 1);
    const { id, prompt, answer, reference } = answers[place];
    at("place").textContent = `Answer ${place + 1} of ${answers.length}`;
    at("prompt").textContent = prompt || "(no prompt is recorded)";
    at("answer").textContent = answer || "(empty)";
    at("reference").textContent = reference ?? "";
    at("known").hidden = reference === null;
    at("note").value = given.get(id).note;
    at("back").disabled = place === 0;
    at("next").disabled = place === answers.length - 1;
    for (const text of ["prompt", "answer", "reference"]) at(text).scrollTop = 0;
    show();
  }

  function move(to) {
    go(to);
    at("said").textContent = "";
    at("place").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  function unlabelled() {
    const order = answers.map((_, n) => (place + 1 + n) % answers.length);
    return order.find((n) => !given.get(answers[n].id).label);
  }

  function choose(label) {
    keep({ label });
    const next = unlabelled();
    const before = place + 1;
    if (next !== undefined) move(next);
    at("said").textContent = next === undefined
      ? "Every answer has a label: download them."
      : `Answer ${before} has the label ${label}.`;
  }

  // As the table of `label export`: quoted, and no cell is a formula.
  function cell(text) {
    const plain = /^\s*[=+\-@＝＋－＠]/.test(text) ? `'${text}` : text;
    return `"${plain.replaceAll('"', '""')}"`;
  }

  function download() {
    const rows = answers.map(({ id }) => {
      const { label, note, rated_at: time } = given.get(id);
      return [id, label, note, time].map(cell).join(",");
    });
    const text = `\ufeff${["id,label,note,rated_at", ...rows].join("\n")}\n`;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = "labels.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    at("said").textContent = "The labels are in the file labels.csv of your downloads.";
  }

  for (const label of data.labels) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.label = label;
    button.append(label);
    const key = keyOf.get(label);
    if (key && key !== label) {
      const hint = document.createElement("kbd");
      hint.textContent = key;
      button.append(" ", hint);
    }
    if (key) button.setAttribute("aria-keyshortcuts", key);
    button.addEventListener("click", () => choose(label));
    at("scale").append(button);
  }

  const keys = new Map([
    ["ArrowLeft", () => move(place - 1)],
    ["ArrowRight", () => move(place + 1)],
    ["u", () => move(unlabelled() ?? place)],
    ...Object.entries(data.keys).map(([key, label]) => [key, () => choose(label)]),
  ]);
  document.addEventListener("keydown", (event) => {
    const isOther = event.ctrlKey || event.metaKey || event.altKey || event.isComposing;
    const action = keys.get(event.key);
    if (isOther || event.repeat || event.target === at("note") || !action) return;
    event.preventDefault();
    action();
  });
  at("note").addEventListener("input", (event) => keep({ note: event.target.value }));
  at("back").addEventListener("click", () => move(place - 1));
  at("next").addEventListener("click", () => move(place + 1));
  at("open").addEventListener("click", () => move(unlabelled() ?? place));
  at("save").addEventListener("click", download);
  const first = answers.findIndex(({ id }) => !given.get(id).label);
  go(Math.max(first, 0));
})();
