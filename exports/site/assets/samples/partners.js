// Chooses what a sample is compared with: other samples of its task, here and in other runs, and of
// its item in other suites, task sets and tools.
"use strict";

(() => {
  const { element, visible, runs, Rows } = evalstore;
  const MOST_CHOICES = 500;

  /**
   * Return a field to choose from: samples of the same task in the table, then other runs of the
   * task set, then samples of the same item under another task.
   * @param {any} rows the rows of the table
   * @param {any} own the sample's row
   * @param {(row: any) => string} refer returns how an address names a sample
   * @param {(name: string) => void} onChoice called with the sample that was chosen
   * @param {(message: string) => void} onProblem
   */
  function partners(rows, own, refer, onChoice, onProblem) {
    const select = /** @type {HTMLSelectElement} */ (element("select", {
      id: "partner", onchange: choose, onfocus: addRuns, onpointerdown: addRuns,
    }));
    const here = rows.all.filter((/** @type {any} */ row) =>
      row !== own && isSameTask(rows, row, rows, own)).slice(0, MOST_CHOICES);
    select.append(element("option", { value: "" }, "choose"),
      ...here.map((/** @type {any} */ row) =>
        element("option", { value: refer(row) }, title(rows, row))),
      element("option", { value: "", disabled: true, class: "waiting" }, "others: loading"));
    let isAsked = false;
    return element("label", { for: "partner" }, "Compare with ", select);

    async function addRuns() {
      if (isAsked) return;
      isAsked = true;
      const set = rows.value(own, "task_set");
      const others = (await runs.list()).filter((run) => run.suite === own.run.suite
        && run.task_sets.includes(set) && !rows.runs.some((/** @type {any} */ r) => r.folder === run.folder));
      const options = others.reverse().slice(0, MOST_CHOICES).map((run) =>
        element("option", { value: `run ${run.folder.replace("samples/", "")}` },
          visible(`${run.models.slice(0, 3).join(", ")} · ${run.run_id}`)));
      const group = element("optgroup", {}, ...options);
      /** @type {HTMLOptGroupElement} */ (group).label =
        others.length > MOST_CHOICES ? `the last ${MOST_CHOICES} of ${others.length} runs` : "other runs";
      const elsewhere = await sameItem(rows, own, refer).catch(() => []);
      select.querySelector(".waiting")?.replaceWith(...(options.length ? [group] : []), ...elsewhere);
    }

    async function choose() {
      const value = select.value;
      if (!value.startsWith("run ")) {
        if (value) onChoice(value);
        return;
      }
      try {
        const found = await sameTask(value.slice("run ".length), rows, own);
        if (found === null) onProblem("That run has no sample of this task on this site.");
        else onChoice(refer(found));
      } catch (error) {
        onProblem(String(error));
      }
    }
  }

  /** Return the samples of the same item under other tasks as groups of options, one for each task. */
  async function sameItem(/** @type {any} */ rows, /** @type {any} */ own,
    /** @type {(row: any) => string} */ refer) {
    const item = rows.value(own, "item");
    if (item === null) return [];
    const { n, entries } = await runs.itemSamples(item);
    /** @type {Map<string, HTMLElement>} */
    const groups = new Map();
    for (const entry of entries) {
      const isHere = entry.suite === own.run.suite
        && ["task_set", "task_id"].every((name) => entry[name] === rows.value(own, name));
      if (isHere) continue;
      const title = visible(["same item", entry.suite, entry.task_set, entry.task_id]
        .filter(Boolean).join(" · "));
      const group = groups.get(title) ?? element("optgroup");
      /** @type {HTMLOptGroupElement} */ (group).label = title;
      groups.set(title, group);
      const parts = [entry.model ?? "unknown", entry.settings, entry.run_id];
      group.append(element("option", { value: refer({ run: { name: entry.run }, number: entry.number }) },
        visible(parts.filter(Boolean).join(" · "))));
    }
    const found = [...groups.values()];
    if (n > entries.length && found.length > 0) {
      found.push(element("option", { value: "", disabled: true },
        `the newest ${entries.length} of ${n} samples of the item`));
    }
    return found;
  }

  /** Return the row of the same task in another run, of the same attempt if it has it. */
  async function sameTask(/** @type {string} */ name, /** @type {any} */ rows, /** @type {any} */ own) {
    const other = new Rows([await runs.run(name)]);
    const attempt = rows.value(own, "attempt");
    while (other.pending.length > 0) {
      await other.loadMore(() => {});
      const found = other.all.filter((/** @type {any} */ row) => isSameTask(other, row, rows, own));
      const same = found.find((/** @type {any} */ row) => other.value(row, "attempt") === attempt);
      if (same ?? found[0]) return same ?? found[0];
    }
    return null;
  }

  function isSameTask(/** @type {any} */ rows, /** @type {any} */ row, /** @type {any} */ others,
    /** @type {any} */ other) {
    return row.run.suite === other.run.suite
      && ["task_set", "task_id"].every((name) => rows.value(row, name) === others.value(other, name));
  }

  function title(/** @type {any} */ rows, /** @type {any} */ row) {
    const get = (/** @type {string} */ name) => rows.value(row, name);
    const parts = [get("model") ?? "unknown", get("settings"), `attempt ${get("attempt")}`,
      rows.runs.length > 1 && row.run.run_id];
    return visible(parts.filter(Boolean).join(" · "));
  }

  evalstore.partners = partners;
})();
