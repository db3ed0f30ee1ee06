"use strict";
(() => {
  const NUMBER = /[+-]?\d[\d,]*\.?\d*/;
  const valueOf = (row, column) => row.cells[column].textContent.trim();
  const numberOf = (text) => {
    const found = text.replace(/\u2212/g, "-").match(NUMBER);
    return found ? parseFloat(found[0].replace(/,/g, "")) : NaN;
  };
  const compare = (a, b, numeric) => {
    if (!numeric) return a.localeCompare(b, undefined, { numeric: true });
    const x = numberOf(a), y = numberOf(b);
    return x - y;
  };
  const sort = (head) => {
    const table = head.closest("table"), body = table.tBodies[0], column = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    const numeric = head.classList.contains("num");
    const rows = Array.from(body.rows);
    // What has no value stays last in either direction.
    const known = rows.filter((row) => !numeric || !Number.isNaN(numberOf(valueOf(row, column))));
    const empty = rows.filter((row) => !known.includes(row));
    known.sort((r, s) => compare(valueOf(r, column), valueOf(s, column), numeric) * (down ? -1 : 1));
    body.append(...known, ...empty);
    for (const other of table.querySelectorAll("th[aria-sort]")) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  for (const head of document.querySelectorAll("table.sortable thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => sort(head));
  }
  const box = document.getElementById("words");
  if (box) {
    const rows = Array.from(document.querySelectorAll("#table-disagreements tbody tr"));
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const count = document.getElementById("shown");
    box.closest("p").hidden = false;
    box.addEventListener("input", () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, at) => {
        row.hidden = !words.every((word) => texts[at].includes(word));
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = words.length ? `${shown} of ${rows.length}` : "";
    });
  }
  const details = Array.from(document.querySelectorAll("details:not(.aside)"));
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = details.filter((part) => !part.open);
    for (const part of opened) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of opened) part.open = false; });
  const links = new Map(Array.from(document.querySelectorAll("nav.toc a"),
    (link) => [link.getAttribute("href").slice(1), link]));
  if (!("IntersectionObserver" in window)) return;
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "0px 0px -75% 0px" });
  for (const id of links.keys()) {
    const part = document.getElementById(id);
    if (part) seen.observe(part);
  }
})();
