// Settles a poster: a choice for each difference, corrections of the record, gold or given back.
"use strict";

(() => {
  const form = document.getElementById("settle");
  const said = document.getElementById("said");
  const shown = document.getElementById("record");
  const fields = [...form.querySelectorAll("fieldset")];
  const about = {
    dataset: form.dataset.dataset,
    poster: form.dataset.poster,
    records: form.dataset.records.split(" "),
  };
  const name = form.elements.namedItem("by");
  name.value = localStorage.getItem("evalstore-name") ?? "";
  const authors = [form.dataset.a, form.dataset.b].map((each) => each.toLowerCase());

  const warnAuthor = () => {
    const isAuthor = authors.includes(name.value.trim().toLowerCase());
    const warning = "You wrote one of these records: let a third person settle them.";
    document.getElementById("own").textContent = isAuthor ? warning : "";
  };

  // One group of radio buttons for each difference.
  fields.forEach((field, place) => {
    for (const choice of field.querySelectorAll("[data-choice]")) choice.name = `choice-${place}`;
  });

  /** @param {HTMLFieldSetElement} field @returns {string | {text: string} | undefined} */
  const choiceIn = (field) => {
    const value = field.querySelector("[data-choice]:checked")?.value;
    return value === "text" ? { text: field.querySelector("[data-text]").value } : value;
  };

  /** @param {string} path @param {object} body @returns {Promise<object>} the answer; throws its message */
  const send = async (path, body) => {
    const answer = await fetch(form.dataset.root + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer.json();
  };

  /** The edits of the record's fields that differ from what the choices lead to. */
  const edits = () => {
    const changed = {};
    for (const input of shown.querySelectorAll("input")) {
      if (input.value === input.dataset.merged) continue;
      changed[input.dataset.field] = input.value.trim() || null;
    }
    return changed;
  };

  /** @param {string} field @param {unknown} value @param {Record<string, unknown>} kept edits */
  const row = (field, value, kept) => {
    const label = document.createElement("label");
    label.className = "field";
    const title = document.createElement("span");
    title.textContent = field;
    const input = document.createElement("input");
    input.dataset.field = field;
    input.dir = "auto";
    input.dataset.merged = value === null || value === undefined ? "" : String(value);
    input.value = field in kept ? (kept[field] ?? "") : input.dataset.merged;
    input.readOnly = typeof value === "number";
    label.append(title, input);
    return label;
  };

  const show = (record, kept) => {
    const rows = [];
    for (const [field, value] of Object.entries(record)) {
      if (field !== "events") rows.push(row(field, value, kept));
    }
    (record.events ?? []).forEach((event, place) => {
      const title = document.createElement("h3");
      title.textContent = `events[${place}]`;
      rows.push(title);
      for (const [field, value] of Object.entries(event)) {
        rows.push(row(`events[${place}].${field}`, value, kept));
      }
    });
    shown.replaceChildren(...rows);
  };

  const merge = async () => {
    const choices = fields.map(choiceIn);
    const n = choices.filter((each) => each === undefined).length;
    if (n) {
      said.textContent = `${n} of ${fields.length} to choose`;
      shown.replaceChildren();
      return;
    }
    try {
      const kept = edits();
      const { record, problems } = await send("poster/merge", { ...about, choices, edits: {} });
      show(record, kept);
      said.textContent = problems.join("; ");
    } catch (error) {
      said.textContent = error.message;
    }
  };

  /** @param {HTMLFieldSetElement} field */
  const current = () => document.activeElement?.closest("fieldset") ?? fields.find((each) => !choiceIn(each));

  const go = (field, step) => {
    const next = fields[fields.indexOf(field) + step];
    if (next) (next.querySelector("[data-choice]:checked") ?? next.querySelector("[data-choice]")).focus();
    else if (step > 0) form.querySelector("button[type=submit]").focus();
  };

  const choose = (field, letter) => {
    const choice = field.querySelector(`[data-choice][value="${letter}"]`);
    if (!choice) return;
    choice.checked = true;
    if (letter === "text") field.querySelector("[data-text]").focus();
    else go(field, 1);
    merge();
  };

  const finish = async (path, body) => {
    if (!name.reportValidity()) return;
    localStorage.setItem("evalstore-name", name.value);
    try {
      const { problems } = await send(path, { ...about, ...body, by: name.value });
      if (problems.length) said.textContent = `not gold: ${problems.join("; ")}`;
      else location.href = form.dataset.next ?? `${form.dataset.root}posters`;
    } catch (error) {
      said.textContent = error.message;
    }
  };

  const settle = () => {
    const choices = fields.map(choiceIn);
    const open = fields.find((each) => choiceIn(each) === undefined);
    if (open) {
      said.textContent = `choose for ${open.dataset.field}`;
      open.querySelector("[data-choice]").focus();
    } else finish("poster/settle", { choices, edits: edits() });
  };

  for (const field of fields) {
    field.addEventListener("change", (event) => {
      if (event.target.matches("[data-text]")) field.querySelector('[value="text"]').checked = true;
      merge();
    });
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    settle();
  });
  document.getElementById("return").addEventListener("click", () => {
    const reason = form.elements.namedItem("reason");
    if (reason.value.trim()) finish("poster/return", { reason: reason.value });
    else said.textContent = "say why, so that the annotators know what to look at";
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      settle();
      return;
    }
    const isTyping = event.target.matches("input:not([type=radio]), select, textarea");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !fields.length) return;
    const field = current() ?? fields[0];
    if (event.key === "a" || event.key === "b") choose(field, event.key);
    else if (event.key === "e") choose(field, "text");
    else if (event.key === "ArrowDown") go(field, 1);
    else if (event.key === "ArrowUp") go(field, -1);
    else return;
    event.preventDefault();
  });
  name.addEventListener("input", warnAuthor);
  warnAuthor();
  merge();
})();
