// Makes a queue from a plan.
"use strict";

(() => {
  const { ratings } = /** @type {any} */ (globalThis).evalstore;
  const at = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));

  at("plan").addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const lines = at("raters").value.split("\n").map((/** @type {string} */ line) => line.trim());
    at("trouble").textContent = "";
    const { outcome, answer, text } = await ratings.post("view/review/create", {
      targets: [...at("targets").selectedOptions].map((option) => option.value),
      sample: Number(at("sample").value),
      draw: at("draw").value,
      seed: Number(at("seed").value),
      criterion: at("criterion").value,
      scale: at("scale").value,
      rubric: at("rubric").value,
      raters: lines.filter(Boolean),
      per_answer: Number(at("per-answer").value),
    });
    if (outcome === "taken") location.assign(`queue?queue=${encodeURIComponent(answer.queue)}`);
    else at("trouble").textContent = text.trim();
  });
})();
