// The picture of a poster: buttons, keys and dragging zoom and move it.
"use strict";

(() => {
  const frame = document.querySelector(".picture .frame");
  if (!frame) return;
  const image = frame.querySelector("img");
  let scale = 1;

  /** @param {number} factor by which to enlarge; 0 fits the picture into its frame */
  const zoom = (factor) => {
    const [x, y] = [frame.scrollLeft + frame.clientWidth / 2, frame.scrollTop + frame.clientHeight / 2];
    const before = scale;
    scale = factor === 0 ? 1 : Math.min(8, Math.max(0.25, scale * factor));
    image.style.width = `${scale * 100}%`;
    frame.scrollTo((x * scale) / before - frame.clientWidth / 2, (y * scale) / before - frame.clientHeight / 2);
  };

  const missing = () => {
    frame.hidden = true;
    document.querySelector("[data-missing]").hidden = false;
    for (const button of document.querySelectorAll("[data-zoom]")) button.hidden = true;
  };
  image.addEventListener("error", missing);
  if (image.complete && image.naturalWidth === 0) missing();
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
  }
  let held = null;
  frame.addEventListener("pointerdown", (event) => {
    held = [event.clientX + frame.scrollLeft, event.clientY + frame.scrollTop];
    frame.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  frame.addEventListener("pointermove", (event) => {
    if (held) frame.scrollTo(held[0] - event.clientX, held[1] - event.clientY);
  });
  frame.addEventListener("pointerup", () => (held = null));
  document.addEventListener("keydown", (event) => {
    const factor = { "+": 1.25, "-": 0.8, 0: 0 }[event.key];
    const isTyping = event.target.matches("input:not([type=radio]), select, textarea");
    if (factor === undefined || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    zoom(factor);
    event.preventDefault();
  });
})();
