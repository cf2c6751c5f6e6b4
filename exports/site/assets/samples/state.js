// What a page shows, as the part of its address after `#`, so that a link brings it back.
"use strict";

(() => {
  const LISTS = ["runs", "with"];
  const TEXTS = ["q", "outcome", "model", "set", "task", "sort", "sample"];

  /**
   * The state of a page.
   * @typedef {object} State
   * @property {string} q words that are searched for
   * @property {string} outcome passed, failed, error or unknown
   * @property {string} model only this model
   * @property {string} set only this task set
   * @property {string} task only this task
   * @property {string} sort field to sort by, with `-` in front for the largest first
   * @property {number} page page of the table, from 0
   * @property {string} sample sample that is shown, see `reference`
   * @property {string[]} runs names of more runs in the table
   * @property {string[]} with samples that are shown next to it
   */

  /** Return the state of an address. @returns {State} */
  function read(/** @type {string} */ hash) {
    const given = new URLSearchParams(hash.replace(/^#/, ""));
    /** @type {any} */
    const state = { page: Math.max(0, (Number.parseInt(given.get("page") ?? "", 10) || 1) - 1) };
    for (const name of TEXTS) state[name] = given.get(name) ?? "";
    for (const name of LISTS) state[name] = given.getAll(name).filter(Boolean);
    return state;
  }

  /** Return the address of a state, with `#`. */
  function write(/** @type {Partial<State>} */ state) {
    const given = new URLSearchParams();
    for (const name of TEXTS) {
      if (/** @type {any} */ (state)[name]) given.set(name, /** @type {any} */ (state)[name]);
    }
    for (const name of LISTS) {
      for (const value of /** @type {any} */ (state)[name] ?? []) given.append(name, value);
    }
    if (state.page) given.set("page", String(state.page + 1));
    return `#${given}`;
  }

  /** Return how an address names a sample: the name of its run, and its number in it. */
  function reference(/** @type {string} */ run, /** @type {number} */ number) {
    return `${run}:${number}`;
  }

  /**
   * Return the run and number that an address names; a number only is one of the page's own run.
   * @param {string} text
   * @param {string} own name of the page's run
   * @returns {{run: string, number: number} | null}
   */
  function referred(text, own) {
    const found = /^(?:([a-z0-9._-]+):)?(\d{1,12})$/.exec(text);
    return found && { run: found[1] ?? own, number: Number(found[2]) };
  }

  evalstore.state = { read, write, reference, referred };
})();
