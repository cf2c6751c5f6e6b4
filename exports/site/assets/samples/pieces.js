// Loads pieces: files of data that run as scripts, because a page on a disk cannot read files.
// Each calls `evalstore.piece` with its path and the JSON text of its data.
"use strict";

/** @type {Record<string, any>} what the scripts of the sample browser offer each other */
globalThis.evalstore = {};

(() => {
  const MOST_KEPT = 40;
  const FOLDER = /^samples\/[a-z0-9_-][a-z0-9._-]*$/;

  /** @type {Map<string, Promise<any>>} the data of pieces by path, the latest used last */
  const kept = new Map();
  /** @type {Map<string, (text: string) => void>} */
  const waiting = new Map();
  let root = "";

  /** Called by each piece. */
  evalstore.piece = (/** @type {string} */ path, /** @type {string} */ text) => {
    waiting.get(path)?.(text);
    waiting.delete(path);
  };

  /** Set the address of the site's folder, such as `../../`. */
  function setRoot(/** @type {string} */ address) {
    root = address;
  }

  /**
   * Return the data of a piece.
   * @param {string} path path in the site
   * @returns {Promise<any>}
   */
  function load(path) {
    const found = kept.get(path) ?? fetched(path);
    kept.delete(path);
    kept.set(path, found);
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_KEPT) break;
      kept.delete(oldest);
    }
    return found;
  }

  function fetched(/** @type {string} */ path) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      waiting.set(path, (text) => {
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          reject(error);
        }
      });
      script.onload = () => script.remove();
      script.onerror = () => {
        script.remove();
        waiting.delete(path);
        kept.delete(path);
        reject(new Error(`${path} is missing from this site, or could not be loaded`));
      };
      script.src = root + path;
      document.head.append(script);
    });
  }

  /** Return the path of a numbered piece. */
  function numbered(/** @type {string} */ stem, /** @type {number} */ number) {
    return `${stem}-${String(number).padStart(4, "0")}.js`;
  }

  /**
   * Return the folder of a run's samples by its name, which can come from an address.
   * @param {string} name
   * @returns {string | null} null for a name that leads elsewhere
   */
  function folderOf(name) {
    const folder = `samples/${name}`;
    return FOLDER.test(folder) && !folder.includes("..") ? folder : null;
  }

  evalstore.pieces = { load, numbered, folderOf, setRoot };
})();
