// Tables of the class `sortable`: a click on a header sorts by its column, another one turns it
// round. Numbers are sorted by value; what is not known comes last both ways. Lists can be searched.
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

  /** Let a list be searched: rows stay that have all of the words. */
  for (const box of document.querySelectorAll("p.search")) {
    const input = box.querySelector("input");
    const status = box.querySelector("[role=status]");
    const rows = [...document.querySelector("main table.sortable").tBodies[0].rows];
    const texts = rows.map((row) =>
      [...row.cells].map((cell) => cell.textContent.toLowerCase()).join(" "),
    );
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows.forEach((row, place) => {
        row.hidden = !words.every((word) => texts[place].includes(word));
      });
      const n = rows.filter((row) => !row.hidden).length;
      status.textContent = words.length ? `${n} of ${rows.length}` : "";
    });
    box.hidden = rows.length < 2;
  }
})();
