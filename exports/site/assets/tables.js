// Tables of the class `sortable`: a click on a header sorts by its column, another one turns it
// round. Numbers are sorted by value; what is not known comes last both ways. Lists can be searched,
// and filtered by column; both are in the address, after `#`.
"use strict";

(() => {
  /** @param {string} text @returns {number} the first number in a text; NaN if it has none */
  const numberIn = (text) => parseFloat(text.replace(/[,$≥\s]/g, ""));

  /**
   * @param {HTMLTableElement} table
   * @param {number} column
   * @param {boolean} isDown
   */
  const sort = (table, column, isDown) => {
    const body = table.tBodies[0];
    const isNumber = table.tHead.rows[0].cells[column].classList.contains("n");
    const rows = [...body.rows].map((row, place) => {
      const text = row.cells[column].textContent.trim();
      const number = numberIn(text);
      const isKnown = isNumber ? !Number.isNaN(number) : text !== "" && text !== "unknown";
      return { row, place, text, number, isKnown };
    });
    const sign = isDown ? -1 : 1;
    rows.sort((a, b) => {
      if (a.isKnown !== b.isKnown) return a.isKnown ? -1 : 1;
      const order = isNumber ? a.number - b.number : a.text.localeCompare(b.text, "en");
      return a.isKnown && order ? sign * order : a.place - b.place;
    });
    body.append(...rows.map((each) => each.row));
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const isDown = head.ariaSort === "ascending";
        for (const each of heads) each.ariaSort = null;
        head.ariaSort = isDown ? "descending" : "ascending";
        sort(table, column, isDown);
      });
    });
  }

  /** Unfold what the address leads to. */
  const unfold = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target?.closest("details:not([open])")) return;
    for (let each = target; each; each = each.parentElement) {
      if (each instanceof HTMLDetailsElement) each.open = true;
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  if (location.hash) unfold();

  /** @param {string} text @returns {string} the date in a text of a date or a time; empty if none */
  const dateIn = (text) => text.match(/^(\d{4}-\d\d-\d\d)( [\d:]+)?$/)?.[1] ?? "";

  /** @param {string} type @param {string} [placeholder] */
  const field = (type, placeholder = "") =>
    Object.assign(document.createElement("input"), { type, placeholder, step: "any" });

  /**
   * Return the fields that filter a column: a range of numbers or dates, or a part of the text. What
   * is unknown is in no range.
   * @param {string} title
   * @param {string[]} texts the cells
   * @param {boolean} isNumber
   */
  const columnFields = (title, texts, isNumber) => {
    const isDate = texts.some(dateIn) && texts.every((text) => text === "unknown" || dateIn(text));
    if (!isNumber && !isDate) {
      const meets = (/** @type {string} */ text, /** @type {string} */ value) =>
        text.toLowerCase().includes(value.toLowerCase());
      return [{ key: title, input: field("text", "has"), meets }];
    }
    const [type, read] = isDate ? ["date", dateIn] : ["number", numberIn];
    return [1, -1].map((sign) => ({
      key: `${title} ${sign > 0 ? "from" : "to"}`,
      input: field(type, sign > 0 ? "from" : "to"),
      meets: (/** @type {string} */ text, /** @type {string} */ value) => {
        const [own, end] = [read(text), read(value)];
        return own !== "" && (sign > 0 ? own >= end : own <= end);
      },
    }));
  };

  /** Let a list be searched and filtered: rows stay that have all of the words and meet all filters. */
  for (const box of document.querySelectorAll(".search")) {
    const table = document.querySelector("main table.sortable");
    const status = box.querySelector("[role=status]");
    const rows = [...table.tBodies[0].rows].map((row) => {
      const texts = [...row.cells].map((cell) => cell.textContent.trim());
      return { row, texts, all: texts.join(" ").toLowerCase() };
    });
    const fields = [...table.tHead.rows[0].cells].flatMap((head, column) => {
      const title = head.textContent.replace(/ \[.*/, "").trim();
      const texts = rows.map((each) => each.texts[column]);
      const made = columnFields(title, texts, head.classList.contains("n"));
      const group = document.createElement("span");
      const unit = texts.some((text) => text.includes("%")) ? ", %" : "";
      group.append(`${title}${unit} `, ...made.map(({ input }) => input));
      group.hidden = new Set(texts).size < 2;
      box.querySelector(".filters").append(group);
      for (const { key, input } of made) input.ariaLabel = key;
      return made.map((each) => ({ ...each, column, group }));
    });
    const search = {
      key: "q",
      input: box.querySelector("input"),
      column: -1,
      group: null,
      meets: (/** @type {string} */ text, /** @type {string} */ value) =>
        value.toLowerCase().split(/\s+/).every((word) => text.includes(word)),
    };
    const filter = () => {
      const set = [search, ...fields].filter((each) => each.input.value.trim());
      for (const { row, texts, all } of rows) {
        row.hidden = !set.every(({ column, input, meets }) => meets(texts[column] ?? all, input.value.trim()));
      }
      const n = rows.filter((each) => !each.row.hidden).length;
      status.textContent = set.length ? `${n} of ${rows.length}` : "";
      const address = `#${new URLSearchParams(set.map(({ key, input }) => [key, input.value]))}`;
      // The other parts of a long list are filtered alike.
      for (const link of document.querySelectorAll("nav.lists a")) link.hash = address;
      return address;
    };
    const follow = () => {
      const given = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
      for (const { key, input, group } of [search, ...fields]) {
        const value = given.get(key) ?? "";
        given.delete(key);
        if (value && group) group.hidden = false;
        input.value = value;
      }
      filter();
      if (given.size) status.append(` There is no column for: ${[...given.keys()].join(", ")}.`);
    };
    box.addEventListener("input", () => history.replaceState(null, "", filter()));
    addEventListener("hashchange", follow);
    follow();
    box.hidden = rows.length < 2 && !status.textContent;
    box.querySelector("details").open = fields.some((each) => each.input.value);
  }
})();
