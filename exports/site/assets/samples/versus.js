// Shows samples of the same task or item side by side, with the words that differ marked.
"use strict";

(() => {
  const { element, visible, shown, longText, difference, record: records, table } = evalstore;

  /**
   * Return samples side by side.
   * @param {{task: string, origin: string, title: string, address: string, record: any, without: string | null}[]} sides
   */
  function versus(sides) {
    const first = sides[0].record;
    const isSamePrompt = sides.every(({ record }) => records.prompt(record) === records.prompt(first));
    const parts = [element("header", {}, element("h2", { dir: "auto" }, visible(sides[0].task)))];
    if (isSamePrompt && records.prompt(first)) {
      parts.push(records.section("Prompt", longText(records.prompt(first))));
    }
    const isSameReference = sides.every((side) => references(side) === references(sides[0]));
    if (isSameReference) parts.push(records.section("Reference", ...records.reference(first)));
    const isSameTask = sides.every(({ origin }) => origin === sides[0].origin);
    if (!isSameTask) {
      parts.push(element("p", { class: "note" },
        "Asked as different tasks: each side names its suite, task set and task."));
    }
    const columns = sides.map((side, at) => element("section", { class: "side" },
      heading(side, isSameTask),
      records.facts(side.record),
      !isSamePrompt && compared("Prompt", records.prompt, sides, at),
      !isSameReference && element("div", {}, element("h4", {}, "Reference"), ...records.reference(side.record)),
      compared("Answer", records.answer, sides, at),
      element("h4", {}, "Scores"),
      records.scores(side.record) ?? element("p", { class: "pale" }, "none")));
    parts.push(element("div", { class: "sides" }, ...columns));
    return parts.filter((part) => part);
  }

  /** Return all that a side says of the right answer, to be compared. */
  function references(/** @type {any} */ { record }) {
    return JSON.stringify((record.tasks ?? []).map((/** @type {any} */ task) =>
      [task.reference ?? task.target, task.choices, task.expected_tools, task.image_url]));
  }

  function heading(/** @type {any} */ { title, origin, address, record, without }, /** @type {boolean} */ isSameTask) {
    const why = records.why(record);
    return element("header", {},
      element("h3", {}, element("a", { href: address }, visible(title))),
      !isSameTask && element("p", { class: "pale", dir: "auto" }, visible(origin)),
      element("p", {}, table.badge(records.outcome(record)),
        why && element("small", {}, visible(why)),
        without && element("a", { href: without }, "remove")));
  }

  /** Return the text of one side; words that the first one lacks are marked, and the reverse. */
  function compared(
    /** @type {string} */ title, /** @type {(record: any) => string | null} */ textOf,
    /** @type {any[]} */ sides, /** @type {number} */ at
  ) {
    const own = textOf(sides[at].record) ?? "";
    const other = textOf(sides[at === 0 ? 1 : 0].record) ?? "";
    const found = own === other ? null : difference(own, other);
    let note = null;
    if (own === other) note = "the same text";
    else if (found === null) note = "too long or too different to mark what differs";
    const against = at === 0 ? "second" : "first";
    return element("div", {},
      element("h4", {}, title, note && element("small", {}, ` ${note}`)),
      found === null ? longText(own) : marked(found[0], against));
  }

  function marked(/** @type {[boolean, string][]} */ parts, /** @type {string} */ against) {
    const tag = against === "first" ? "ins" : "del";
    return element("pre", { class: "text", dir: "auto", tabindex: "0" }, ...parts.map(([isSame, part]) =>
      isSame ? shown(part) : element(tag, { title: `not in the ${against}` }, shown(part))));
  }

  evalstore.versus = versus;
})();
