// The search field and the filters above the table.
"use strict";

(() => {
  const { element, visible, OUTCOMES } = evalstore;

  /**
   * Return the filters. They are drawn once, and follow the state by `show`.
   * @param {(change: Record<string, any>) => void} onChange called with what the user changes
   */
  function filters(onChange) {
    const search = element("input", {
      type: "search", id: "search", placeholder: "words, all of which must occur",
      "aria-describedby": "searched",
      oninput: () => onChange({ q: /** @type {HTMLInputElement} */ (search).value, page: 0 }),
    });
    const selects = [
      ["outcome", "Verdict"], ["model", "Model"], ["set", "Task set"],
    ].map(([name, title]) => {
      const select = element("select", {
        id: `filter-${name}`,
        onchange: () => onChange(
          { [name]: /** @type {HTMLSelectElement} */ (select).value, page: 0 }),
      });
      return { name, select, label: labelled(title, select) };
    });
    const task = element("button", { type: "button", onclick: () => onChange({ task: "", page: 0 }) });
    const searched = element("small", { id: "searched" },
      "of task, model, reason, and the start of prompt and answer");
    const bar = element("form", { class: "filters", role: "search", onsubmit: (/** @type {Event} */ event) =>
      event.preventDefault() }, labelled("Search", search), searched, ...selects.map((each) => each.label), task);

    /** Show a state, and the choices that there are. */
    function show(/** @type {any} */ state, /** @type {any} */ rows) {
      if (document.activeElement !== search) /** @type {HTMLInputElement} */ (search).value = state.q;
      /** @type {Record<string, [string, string][]>} */
      const choices = {
        outcome: Object.entries(OUTCOMES),
        model: [...rows.distinct("model")].sort().map(same),
        set: [...rows.distinct("task_set")].sort().map(same),
      };
      for (const { name, select, label } of selects) {
        fill(/** @type {HTMLSelectElement} */ (select), choices[name], state[name]);
        label.hidden = choices[name].length < 2 && !state[name];
      }
      task.hidden = !state.task;
      task.textContent = `task ${visible(state.task)} ×`;
      task.title = "Show all tasks";
    }

    return { bar, search, show };
  }

  function same(/** @type {string} */ value) {
    return [value, visible(value)];
  }

  function fill(/** @type {HTMLSelectElement} */ select, /** @type {any[]} */ choices,
    /** @type {string} */ value) {
    const wanted = [["", "all"], ...choices];
    if (value && !choices.some(([each]) => each === value)) wanted.push([value, visible(value)]);
    const key = wanted.map(([each]) => each).join("\n");
    if (select.dataset.key !== key) {
      select.dataset.key = key;
      select.replaceChildren(...wanted.map(([each, text]) =>
        element("option", { value: each }, text)));
    }
    select.value = value;
  }

  function labelled(/** @type {string} */ title, /** @type {HTMLElement} */ field) {
    return element("label", { for: field.id }, `${title} `, field);
  }

  evalstore.filters = filters;
})();
