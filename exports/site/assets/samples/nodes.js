// Makes nodes of a page. Texts become text nodes, never markup.
"use strict";

(() => {
  const SAFE = new Set(["class", "href", "id", "type", "value", "for", "title", "open", "tabindex",
    "role", "scope", "hidden", "selected", "colspan", "lang", "dir", "placeholder", "disabled"]);

  /**
   * Return a new element.
   * @param {string} name its tag
   * @param {Record<string, any>} [attributes] attributes; `on…` takes a function; null leaves it out
   * @param {...(Node | string | number | null | undefined | false)} children
   * @returns {HTMLElement}
   */
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on") && typeof value === "function") {
        made.addEventListener(key.slice(2), value);
      } else if (key === "href" && !String(value).startsWith("#") && !isOwn(String(value))) {
        throw new Error("a link that leads out of the site");
      } else if (SAFE.has(key) || key.startsWith("aria-") || key.startsWith("data-")) {
        made.setAttribute(key, value === true ? "" : String(value));
      } else {
        throw new Error(`an attribute that is not expected: ${key}`);
      }
    }
    for (const child of children) {
      if (child === null || child === undefined || child === false) continue;
      made.append(child instanceof Node ? child : String(child));
    }
    return made;
  }

  function isOwn(/** @type {string} */ address) {
    return /^(?:\.\.\/)*[a-z0-9][a-z0-9._/-]*(?:#.*)?$/.test(address);
  }

  evalstore.element = element;
})();
