// Shows text of any length and content: what cannot be seen is escaped, long text comes in steps.
"use strict";

(() => {
  const { element } = evalstore;
  const FIRST = 10_000;
  const STEP = 100_000;
  // Control and format characters (bidi marks too), and separators of lines; not \n and \t.
  const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
  const NAMED = { "\r": "\\r", "\n": "\\n", "\t": "\\t" };

  function escaped(/** @type {string} */ char) {
    const code = /** @type {number} */ (char.codePointAt(0));
    if (char in NAMED) return NAMED[/** @type {"\r"} */ (char)];
    const digits = code.toString(16);
    if (code < 0x100) return `\\x${digits.padStart(2, "0")}`;
    return code < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
  }

  /** Return text with what cannot be seen escaped, for a place that takes plain text only. */
  function visible(/** @type {string} */ text) {
    return text.replace(UNSEEN, escaped).replace(/[\n\t]/g, " ");
  }

  /** Return text as nodes, with what cannot be seen escaped and marked. */
  function shown(/** @type {string} */ text) {
    const nodes = document.createDocumentFragment();
    let end = 0;
    for (const found of text.matchAll(UNSEEN)) {
      nodes.append(text.slice(end, found.index));
      nodes.append(element("span", { class: "escape" }, escaped(found[0])));
      end = found.index + found[0].length;
    }
    nodes.append(text.slice(end));
    return nodes;
  }

  /**
   * Return a text of any length: its start, and a button for more.
   * @param {string} text
   * @returns {HTMLElement}
   */
  function longText(text) {
    const body = element("pre", { class: "text", dir: "auto", tabindex: "0" });
    const all = element("div", { class: "long" }, body);
    let end = cut(text, FIRST);
    body.append(shown(text.slice(0, end)));
    if (end === text.length) return all;
    const button = element("button", { type: "button", onclick: more });
    label();
    all.append(button);
    return all;

    function more() {
      const next = cut(text, end + STEP);
      body.append(shown(text.slice(end, next)));
      end = next;
      if (end === text.length) button.remove();
      else label();
    }

    function label() {
      const left = text.length - end;
      const step = Math.min(left, STEP);
      button.textContent = `Show ${count(step)} more of ${count(left)} characters`;
    }
  }

  /** Return where a text can be cut, not inside a character of two units. */
  function cut(/** @type {string} */ text, /** @type {number} */ at) {
    if (at >= text.length) return text.length;
    const unit = text.charCodeAt(at - 1);
    return unit >= 0xd800 && unit < 0xdc00 ? at - 1 : at;
  }

  /** Return a whole number with commas. */
  function count(/** @type {number} */ number) {
    return number.toLocaleString("en-US");
  }

  Object.assign(evalstore, { visible, shown, longText, count });
})();
