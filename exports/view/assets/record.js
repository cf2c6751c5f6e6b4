// Writes an annotator's record of a poster from a form made of the schema.
"use strict";

(() => {
  const form = document.getElementById("write");
  const events = document.getElementById("events");
  const said = document.getElementById("said");
  const name = form.elements.namedItem("annotator");
  name.value = localStorage.getItem("evalstore-name") ?? "";

  const add = () => {
    const event = document.getElementById("event").content.firstElementChild.cloneNode(true);
    event.querySelector("[data-remove]").addEventListener("click", () => event.remove());
    events.append(event);
    event.querySelector("input").focus();
  };

  /** @param {Element} part @returns {object} the values of its fields, by name */
  const values = (part) => {
    const found = {};
    for (const input of part.querySelectorAll("[data-name]")) {
      const text = input.value.trim();
      const isNumber = input.dataset.type === "number";
      found[input.dataset.name] = isNumber ? Number(text) : text || (input.dataset.type === "nullable" ? null : "");
    }
    return found;
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    localStorage.setItem("evalstore-name", name.value);
    const record = { ...values(document.getElementById("top")), events: [...events.children].map(values) };
    const answer = await fetch(`${form.dataset.root}record/add`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        dataset: form.dataset.dataset,
        poster: form.dataset.poster,
        annotator: name.value,
        record,
      }),
    });
    if (!answer.ok) said.textContent = (await answer.text()).trim();
    else {
      const { problems } = await answer.json();
      if (problems.length) said.textContent = `not saved: ${problems.join("; ")}`;
      else location.href = form.dataset.list;
    }
  });
  document.getElementById("add").addEventListener("click", add);
})();
