// The sample browser: shows the table or a sample, as the page's address says.
"use strict";

(() => {
  const { element, visible, count, pieces, runs: source, Rows, state: states, filters, keys, partners,
    record: records, table, versus } = evalstore;
  const MOST_SIDES = 6;
  const WAIT_MS = 60;

  const place = /** @type {HTMLElement} */ (document.getElementById("samples"));
  const root = place.dataset.root ?? "";
  const own = place.dataset.run ?? "";
  pieces.setRoot(root);

  start().catch(problem);

  async function start() {
    if (!own) await evalstore.list(place, root);
    else await browse(await source.run(own));
  }

  function problem(/** @type {unknown} */ error) {
    place.replaceChildren(element("p", { class: "error", role: "alert" },
      visible(error instanceof Error ? error.message : String(error))));
  }

  async function browse(/** @type {any} */ run) {
    let state = states.read(location.hash);
    /** @type {any} */
    let rows = null;
    /** @type {any[]} */
    let found = [];
    let loaded = "";
    let drawn = 0;
    let timer = 0;

    const site = document.querySelector(".bar b")?.textContent;
    const status = element("p", { class: "pale", role: "status" });
    const bar = filters(change);
    const list = element("div");
    const listing = element("div", {}, bar.bar, addRun(run), status, list);
    const sample = element("article", { class: "sample", hidden: true });
    place.replaceChildren(listing, sample);

    keys({ search: bar.search, step, leave });
    addEventListener("hashchange", () => {
      // A place of the page, such as that of the link that skips the menu.
      if (/^#[^=]+$/.test(location.hash)) return;
      state = states.read(location.hash);
      show().catch(problem);
    });
    await show();

    /** Return how an address names a sample: shortly, if it is one of the page's run. */
    function refer(/** @type {any} */ row) {
      return row.run.name === own ? String(row.number) : states.reference(row.run.name, row.number);
    }

    /** Change the state: what is typed replaces the address at once, and is drawn soon after. */
    function change(/** @type {any} */ changed) {
      state = { ...state, ...changed };
      clearTimeout(timer);
      timer = setTimeout(() => {
        history.replaceState(null, "", states.write(state));
        show().catch(problem);
      }, WAIT_MS);
    }

    async function show() {
      const wanted = [own, ...state.runs].join(" ");
      if (wanted !== loaded) {
        loaded = wanted;
        const others = await Promise.all(state.runs.filter((name) => name !== own).map(source.run));
        rows = new Rows([run, ...others]);
        // A sample first: a table of many samples takes longer.
        if (state.sample) {
          await showSample();
          await painted();
        }
        load(rows);
      } else if (state.sample) await showSample();
      else showTable();
    }

    /** Return when the page has been painted, or soon in a window that is not seen. */
    function painted() {
      return new Promise((resolve) => {
        requestAnimationFrame(() => setTimeout(resolve));
        setTimeout(resolve, 300);
      });
    }

    /** Load rows of the table, and draw them as they come, and at the end. */
    function load(/** @type {any} */ mine) {
      const draw = () => mine === rows && later();
      mine.loadMore(draw).then(() => {
        drawn = 0;
        draw();
      }).catch(problem);
    }

    /** Draw again when more rows have come, but not at each of many pieces. */
    function later() {
      const isFirst = !state.sample && list.childElementCount === 0;
      if (!isFirst && rows.pending.length > 0 && performance.now() - drawn < 500) return;
      if (state.sample) updateSample();
      else showTable();
    }

    function showTable() {
      drawn = performance.now();
      document.title = `Samples of ${visible(run.run_id)} · ${site}`;
      sample.hidden = true;
      listing.hidden = false;
      bar.show(state, rows);
      found = rows.chosen(state);
      const parts = [table.table(rows, found, state, refer), table.pager(found, state)];
      list.replaceChildren(...parts.filter((part) => part));
      status.replaceChildren(...standing());
    }

    /** Return how many samples are shown, of how many, and a button if not all are loaded. */
    function standing() {
      const text = `${count(found.length)} of ${count(rows.all.length)} samples`;
      const left = rows.n - rows.all.length;
      const dropped = rows.runs.reduce((/** @type {number} */ sum, /** @type {any} */ each) =>
        sum + each.n_samples - each.n_kept, 0);
      return [
        text,
        dropped > 0 ? `; ${count(dropped)} that did not fail are not on this site` : "",
        left > 0 ? `; ${count(left)} more not loaded ` : "",
        left > 0 && rows.all.length >= rows.limit
          ? element("button", { type: "button", onclick: () => load(rows) }, "Load more") : "",
      ];
    }

    async function showSample() {
      const name = state.sample;
      const names = [name, ...state.with.slice(0, MOST_SIDES - 1)];
      const sides = await Promise.all(names.map(side));
      if (name !== state.sample) return;
      const missing = sides.findIndex((each) => each === null);
      listing.hidden = true;
      sample.hidden = false;
      if (missing >= 0) {
        sample.replaceChildren(navigation(),
          element("p", { role: "alert" }, `This site has no sample ${visible(names[missing])}.`));
        return;
      }
      const first = /** @type {any} */ (sides[0]);
      document.title = `${visible(first.title)} · ${visible(run.run_id)} · ${site}`;
      const body = sides.length > 1 ? versus(sides) : single(first);
      sample.replaceChildren(navigation(), ...body);
      scrollTo(0, 0);
    }

    /** Return what is shown of one sample, or null if the site does not have it. */
    async function side(/** @type {string} */ name) {
      const at = states.referred(name, own);
      if (at === null) return null;
      const of = rows.runs.find((/** @type {any} */ each) => each.name === at.run)
        ?? await source.run(at.run);
      const record = await source.record(of, at.number);
      if (record === null) return null;
      const task = record.task_id ?? record.task_name ?? "unknown task";
      const others = state.with.filter((each) => each !== name);
      const parts = [record.model ?? "unknown", record.settings, of.run_id, `attempt ${record.attempt}`];
      return {
        of,
        record,
        task,
        origin: [of.suite, record.task_set, task].filter(Boolean).join(" · "),
        title: state.with.length > 0 ? parts.filter(Boolean).join(" · ") : task,
        address: `${root}samples/${of.name}/index.html${states.write({ sample: String(at.number) })}`,
        without: name === state.sample ? null : states.write({ ...state, with: others }),
      };
    }

    function single(/** @type {any} */ { of, record, task }) {
      const why = records.why(record);
      const head = element("header", {},
        element("h2", { dir: "auto" }, visible(task)),
        element("p", {}, table.badge(records.outcome(record)), " ",
          why && element("span", { class: "why" }, visible(why))),
        element("p", { class: "pale", dir: "auto" },
          visible([record.model ?? "unknown", record.task_set, of.run_id].join(" · "))),
        record.trial_page && element("p", {},
          element("a", { href: root + record.trial_page }, "Steps of the trial")));
      const body = element("div", {}, ...records.body(record));
      return [head, record.more && excerptNote(of, record, body), body].filter((node) => node);
    }

    /** Return the note that a record is an excerpt, with a button that loads all of it. */
    function excerptNote(/** @type {any} */ of, /** @type {any} */ record, /** @type {any} */ body) {
      const [, n, length] = record.more;
      const button = element("button", { type: "button", onclick: load }, "Load all of it");
      const note = element("p", { class: "note", role: "status" },
        `An excerpt: the record has ${count(length)} characters. `, button);
      return note;

      async function load() {
        button.remove();
        try {
          const whole = await source.wholeRecord(of, record.more, (/** @type {number} */ done) => {
            note.textContent = `${done} of ${n} pieces loaded`;
          });
          note.textContent = `All ${count(length)} characters are loaded.`;
          body.replaceChildren(...records.body(whole));
        } catch (error) {
          problem(error);
        }
      }
    }

    /** Return the links of a sample: back, to its neighbours, and to others of its task. */
    function navigation() {
      const nav = element("nav", { class: "pager", "aria-label": "Samples" });
      fillNavigation(nav);
      return nav;
    }

    function fillNavigation(/** @type {HTMLElement} */ nav) {
      found = rows.chosen(state);
      const at = placeOfSample();
      const row = found[at]
        ?? rows.all.find((/** @type {any} */ each) => refer(each) === state.sample);
      const to = (/** @type {any} */ other, /** @type {string} */ text) => (other
        ? element("a", { href: states.write({ ...state, sample: refer(other), with: [] }) }, text)
        : element("span", { class: "pale" }, text));
      const parts = [
        element("a", { href: states.write({ ...state, sample: "", with: [] }) }, "all samples"),
        to(at < 0 ? null : found[at - 1], "previous"),
        at < 0 ? "" : element("span", {}, `${count(at + 1)} of ${count(found.length)}`),
        to(at < 0 ? null : found[at + 1], "next"),
        row && state.with.length < MOST_SIDES - 1 && partners(rows, row, refer, (/** @type {string} */ name) => {
          if (state.with.includes(name)) warn("That sample is shown already.");
          else location.hash = states.write({ ...state, with: [...state.with, name] });
        }, warn),
      ];
      nav.replaceChildren(...parts.filter((part) => part));

      function warn(/** @type {string} */ message) {
        nav.querySelector("[role=alert]")?.remove();
        nav.append(element("span", { role: "alert" }, visible(message)));
      }
    }

    function updateSample() {
      drawn = performance.now();
      const nav = /** @type {HTMLElement | null} */ (sample.querySelector("nav.pager"));
      // Not while someone chooses from it.
      if (nav && !nav.contains(document.activeElement)) fillNavigation(nav);
    }

    function placeOfSample() {
      return found.findIndex((row) => refer(row) === state.sample);
    }

    /** Go to another sample, or in the table to another row; return whether there is one. */
    function step(/** @type {number} */ by) {
      if (state.sample) {
        const row = found[placeOfSample() + by];
        if (!row) return false;
        location.hash = states.write({ ...state, sample: refer(row), with: [] });
        return true;
      }
      const links = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("a.sample")]);
      const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
      const next = links[at < 0 && by < 0 ? -1 : at + by];
      next?.focus();
      return next !== undefined;
    }

    function leave() {
      if (!state.sample) return;
      const name = state.sample;
      location.hash = states.write({ ...state, sample: "", with: [] });
      // The row that was shown has the focus again.
      addEventListener("hashchange", () => setTimeout(() => {
        const link = [...list.querySelectorAll("a.sample")].find((each) =>
          states.read(new URL(/** @type {HTMLAnchorElement} */ (each).href).hash).sample === name);
        /** @type {HTMLElement | undefined} */ (link)?.focus();
      }), { once: true });
    }

    /** Return a field to add the samples of other runs of the same suite to the table. */
    function addRun(/** @type {any} */ of) {
      const select = /** @type {HTMLSelectElement} */ (element("select", { id: "add-run", onchange: () => {
        if (select.value) change({ runs: [...state.runs, select.value], page: 0 });
      } }, element("option", { value: "" }, "choose")));
      const all = element("details", { class: "more-runs", ontoggle: fill },
        element("summary", {}, "Add other runs of this suite to the table"),
        element("label", { for: "add-run" }, "Run ", select), " ",
        element("a", { href: "#" }, "only this run"));
      return all;

      async function fill() {
        if (select.options.length > 1) return;
        const others = (await source.list()).filter((each) =>
          each.suite === of.suite && each.folder !== of.folder);
        select.append(...others.reverse().slice(0, 1000).map((each) =>
          element("option", { value: each.folder.replace("samples/", "") },
            visible([each.run_id, ...each.models.slice(0, 3)].join(" · ")))));
      }
    }
  }
})();
