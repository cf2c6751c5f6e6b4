// Finds the words that differ between two texts, within a bound of work.
"use strict";

(() => {
  const MOST_CHARACTERS = 50_000;
  const MOST_WORDS = 15_000;
  const MOST_CHANGES = 600;

  const words = new Intl.Segmenter("th", { granularity: "word" });

  /**
   * A part of a text: whether the other text has it too, and the part.
   * @typedef {[boolean, string]} Part
   */

  /**
   * Return both texts in parts, or null if they are too long or differ too much to compare.
   * @param {string} one
   * @param {string} two
   * @returns {[Part[], Part[]] | null}
   */
  function difference(one, two) {
    if (Math.max(one.length, two.length) > MOST_CHARACTERS) return null;
    const a = split(one);
    const b = split(two);
    if (a.length > MOST_WORDS || b.length > MOST_WORDS) return null;
    let start = 0;
    while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
    let tail = 0;
    const most = Math.min(a.length, b.length) - start;
    while (tail < most && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
    const same = common(a.slice(start, a.length - tail), b.slice(start, b.length - tail));
    if (same === null) return null;
    const kept = [new Set(), new Set()];
    for (const [x, y] of same) {
      kept[0].add(x + start);
      kept[1].add(y + start);
    }
    const isSame = (/** @type {number} */ side, /** @type {number} */ length) =>
      (/** @type {number} */ at) => at < start || at >= length - tail || kept[side].has(at);
    return [legible(joined(a, isSame(0, a.length))), legible(joined(b, isSame(1, b.length)))];
  }

  /** Return the words of a text, of any script, with the whitespace and marks between them. */
  function split(/** @type {string} */ text) {
    return Array.from(words.segment(text), (part) => part.segment);
  }

  /**
   * Return the pairs of places of a longest common subsequence, by Myers' algorithm, or null if
   * there are too many changes.
   * @param {string[]} a
   * @param {string[]} b
   * @returns {[number, number][] | null}
   */
  function common(a, b) {
    const most = Math.min(a.length + b.length, MOST_CHANGES);
    const ends = new Int32Array(2 * most + 3);
    const centre = most + 1;
    /** @type {Int32Array[]} the ends of the paths before each number of changes */
    const before = [];
    for (let changes = 0; changes <= most; changes += 1) {
      before.push(ends.slice(centre - changes - 1, centre + changes + 2));
      for (let k = -changes; k <= changes; k += 2) {
        const isDown = k === -changes || (k !== changes && ends[centre + k - 1] < ends[centre + k + 1]);
        let x = isDown ? ends[centre + k + 1] : ends[centre + k - 1] + 1;
        while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
        ends[centre + k] = x;
        if (x >= a.length && x - k >= b.length) return traced(before, a.length, b.length);
      }
    }
    return null;
  }

  function traced(
    /** @type {Int32Array[]} */ before, /** @type {number} */ x, /** @type {number} */ y
  ) {
    /** @type {[number, number][]} */
    const same = [];
    for (let changes = before.length - 1; changes >= 0; changes -= 1) {
      const ends = before[changes];
      const at = (/** @type {number} */ k) => ends[k + changes + 1];
      const k = x - y;
      const isDown = k === -changes || (k !== changes && at(k - 1) < at(k + 1));
      const from = isDown ? at(k + 1) : at(k - 1);
      const fromY = from - (isDown ? k + 1 : k - 1);
      const first = isDown ? from : from + 1;
      while (x > first) {
        x -= 1;
        y -= 1;
        same.push([x, y]);
      }
      x = from;
      y = fromY;
    }
    return same;
  }

  function joined(/** @type {string[]} */ parts, /** @type {(at: number) => boolean} */ isSame) {
    /** @type {Part[]} */
    const found = [];
    parts.forEach((part, at) => {
      const last = found.at(-1);
      if (last && last[0] === isSame(at)) last[1] += part;
      else found.push([isSame(at), part]);
    });
    return found;
  }

  /** Return parts with the spaces between two that differ as differing too: fewer, longer marks. */
  function legible(/** @type {Part[]} */ parts) {
    /** @type {Part[]} */
    const found = [];
    parts.forEach(([isSame, text], at) => {
      const isBetween = isSame && at > 0 && at < parts.length - 1 && /^ +$/.test(text);
      const last = found.at(-1);
      if (last && last[0] === (isSame && !isBetween)) last[1] += text;
      else found.push([isSame && !isBetween, text]);
    });
    return found;
  }

  evalstore.difference = difference;
})();
