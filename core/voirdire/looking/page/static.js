"use strict";
(() => {
  const box = document.getElementById("words"), rows = [...document.querySelectorAll(".rows tbody")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  box.addEventListener("input", () => {
    const words = box.value.trim().toLowerCase();
    let shown = 0;
    rows.forEach((row, at) => { row.hidden = !texts[at].includes(words); shown += row.hidden ? 0 : 1; });
    document.getElementById("shown").textContent = words ? `${shown} of ${rows.length}` : "";
  });
})();
