// Sends ratings, each with an id of its own, until the server has them; asks who rates.
"use strict";

(() => {
  const shared = /** @type {any} */ (globalThis);
  shared.evalstore ??= {};
  const RETRY_MS = 2000;
  const OUTBOX = "evalstore-outbox/";
  const RATER = "evalstore-rater";
  const state = /** @type {HTMLElement} */ (document.querySelector(".as-of"));
  const root = state.dataset.root ?? "";
  /** What is not stored yet, the oldest first. @type {{path: string, fields: any, at: number}[]} */
  const waiting = [];
  let isSending = false;
  /** @type {(text: string, isTrouble: boolean) => void} */
  let tell = () => {};

  /** Return an id that no other rating has; `randomUUID` exists on loopback only. */
  function newId() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  function keep(/** @type {string} */ key, /** @type {string | null} */ text) {
    try {
      if (text === null) localStorage.removeItem(key);
      else localStorage.setItem(key, text);
    } catch {
      // This browser keeps nothing: what waits is sent as long as the page is open.
    }
  }

  function kept(/** @type {string} */ key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  }

  /** Post an object; return the answer, and whether the server took it, refused it, or neither. */
  async function post(/** @type {string} */ path, /** @type {any} */ fields) {
    try {
      const reply = await fetch(root + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(fields),
      });
      if (reply.ok) return { outcome: "taken", answer: await reply.json(), text: "" };
      const outcome = reply.status < 500 ? "refused" : "failed";
      return { outcome, answer: null, text: await reply.text() };
    } catch {
      return { outcome: "failed", answer: null, text: "the server does not answer" };
    }
  }

  /** Return what the server says to a question. */
  async function get(/** @type {string} */ path, /** @type {Record<string, string>} */ about) {
    const reply = await fetch(`${root}${path}?${new URLSearchParams(about)}`);
    if (!reply.ok) throw new Error((await reply.text()).trim());
    return reply.json();
  }

  async function flush() {
    if (isSending) return;
    isSending = true;
    while (waiting.length > 0) {
      const [{ path, fields }] = waiting;
      const { outcome, text } = await post(path, fields);
      if (outcome === "failed") {
        tell(`${waiting.length} not stored yet: ${text.trim()}. It is sent again.`, true);
        await new Promise((go) => { setTimeout(go, RETRY_MS); });
        continue;
      }
      waiting.shift();
      keep(OUTBOX + fields.id, null);
      if (outcome === "refused") tell(`Not stored: ${text.trim()}`, true);
      else if (waiting.length === 0) tell("Stored.", false);
    }
    isSending = false;
  }

  /** Send a rating, and again until it is stored, also after the page was closed. */
  function send(/** @type {string} */ path, /** @type {any} */ fields) {
    const one = { path, fields: { ...fields, id: newId() }, at: Date.now() };
    keep(OUTBOX + one.fields.id, JSON.stringify(one));
    waiting.push(one);
    void flush();
  }

  /** Send what waits since the page was closed; from then on, tell what becomes of ratings. */
  function start(/** @type {typeof tell} */ told) {
    tell = told;
    try {
      for (const key of Object.keys(localStorage).filter((each) => each.startsWith(OUTBOX))) {
        waiting.push(JSON.parse(localStorage.getItem(key) ?? ""));
      }
    } catch {
      // As for a browser that keeps nothing.
    }
    waiting.sort((one, other) => one.at - other.at);
    void flush();
  }

  let named = kept(RATER) ?? "";
  function setRater(/** @type {string} */ name) {
    named = name;
    keep(RATER, name);
  }

  const rater = { get: () => named, set: setRater };
  shared.evalstore.ratings = { get, post, send, start, rater };
})();
