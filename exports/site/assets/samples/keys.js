// The keyboard: j and k, arrows, / and Escape.
"use strict";

(() => {
  /**
   * Follow the keyboard.
   * @param {{search: HTMLElement, step: (by: number) => boolean, leave: () => void}} page
   *   `step` goes to another sample or row and returns whether it did
   */
  function keys({ search, step, leave }) {
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const field = /** @type {HTMLElement | null} */ (document.activeElement);
      if (event.key === "Escape") {
        if (field === search) search.blur();
        else leave();
      } else if (field?.matches("input, select, textarea")) {
        // An arrow down from the search leads to the first row.
        if (field !== search || event.key !== "ArrowDown" || !step(1)) return;
        event.preventDefault();
      } else if (event.key === "/") {
        event.preventDefault();
        leave();
        search.focus();
      } else {
        // Text and wide tables are scrolled by arrows.
        const isScrolled = field?.matches("pre, .wide") && event.key.startsWith("Arrow");
        const by = isScrolled ? 0 : ({ j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 })[event.key] ?? 0;
        if (by !== 0 && step(by)) event.preventDefault();
      }
    });
  }

  evalstore.keys = keys;
})();
