// Links a sample of a run to the page on which it is rated; pages of the site ask for the links.
"use strict";

(() => {
  /** Return what a server adds to a sample. */
  function links(/** @type {any} */ record) {
    if (!record.result_id || (record.raw_output ?? record.answer) === null) return [];
    const { suite, run_id, result_id } = record;
    const state = /** @type {HTMLElement} */ (document.querySelector(".as-of"));
    const link = document.createElement("a");
    link.href = `${state.dataset.root}view/rate?${new URLSearchParams({ suite, run_id, result_id })}`;
    link.textContent = "Rate this answer";
    const line = document.createElement("p");
    line.append(link);
    return [line];
  }

  /** @type {any} */ (globalThis).evalstoreView = { links };
})();
