// Reads what the site holds of runs: their list, what there is of each, their rows and records.
"use strict";

(() => {
  const { pieces, visible } = evalstore;

  /**
   * A run, as its piece `run.js` describes it.
   * @typedef {object} Run
   * @property {string} name its name in addresses
   * @property {string} folder
   * @property {string} suite
   * @property {string} run_id
   * @property {string | null} run_date
   * @property {string[]} models
   * @property {string[]} task_sets
   * @property {[string, string][]} tags
   * @property {boolean} is_replay
   * @property {number} n_samples samples of the run
   * @property {number} n_kept samples that the site holds
   * @property {number[]} rows number of the first sample of each piece of rows
   * @property {number[]} records the same of records
   * @property {string[]} row_fields
   * @property {string[]} record_fields
   */

  /** Return a run by its name in addresses. @returns {Promise<Run>} */
  async function run(/** @type {string} */ name) {
    const folder = pieces.folderOf(name);
    if (folder === null) throw new Error(`${visible(name)}: not the name of a run`);
    return { ...(await pieces.load(`${folder}/run.js`)), name };
  }

  /** Return the list of all runs. @returns {Promise<Record<string, any>[]>} */
  async function list() {
    const about = await pieces.load("samples/runs.js");
    const paths = Array.from({ length: about.n_pieces }, (_, n) =>
      pieces.numbered("samples/runs", n));
    const parts = await Promise.all(paths.map((path) => pieces.load(path)));
    return parts.flat().map((values) => named(about.fields, values));
  }

  /**
   * Return a sample's record by the names of its fields, with `more` if it is an excerpt.
   * @param {Run} of
   * @param {number} number
   * @returns {Promise<Record<string, any> | null>} null if the site does not hold it
   */
  async function record(of, number) {
    const at = of.records.findLastIndex((start) => start <= number);
    if (at < 0) return null;
    const held = await pieces.load(pieces.numbered(`${of.folder}/records`, at));
    const found = held.find((/** @type {any[]} */ each) => each[0] === number);
    return found ? { ...named(of.record_fields, found[1]), more: found[2] } : null;
  }

  /**
   * Return a whole record of which `record` returned an excerpt.
   * @param {Run} of
   * @param {[number, number, number]} more first piece, number of pieces, characters
   * @param {(n: number) => void} onPiece called after each piece, with their number
   * @returns {Promise<Record<string, any>>}
   */
  async function wholeRecord(of, [first, n], onPiece) {
    const parts = [];
    for (let at = first; at < first + n; at += 1) {
      parts.push(await pieces.load(pieces.numbered(`${of.folder}/long`, at)));
      onPiece(parts.length);
    }
    return { ...named(of.record_fields, JSON.parse(parts.join(""))), more: null };
  }

  /**
   * Return the samples of an item, one of each run and model, and how many the store has.
   * @param {string} item the start of its hash
   * @returns {Promise<{n: number, entries: Record<string, any>[]}>}
   */
  async function itemSamples(item) {
    const about = await pieces.load("samples/items.js");
    const at = about.starts.findLastIndex((/** @type {string} */ start) => start <= item);
    const held = at < 0 ? [] : await pieces.load(pieces.numbered("samples/items", at));
    const found = held.find((/** @type {any[]} */ each) => each[0] === item);
    if (!found) return { n: 0, entries: [] };
    return { n: found[1], entries: found[2].map((/** @type {any[]} */ values) => named(about.fields, values)) };
  }

  function named(/** @type {string[]} */ fields, /** @type {any[]} */ values) {
    return Object.fromEntries(fields.map((name, at) => [name, values[at]]));
  }

  evalstore.runs = { run, list, record, wholeRecord, itemSamples };
})();
