// Keys for what the mouse can do; everything works without this script.
"use strict";
(() => {
  const rows = () => [...document.querySelectorAll("[data-row]")];
  const follow = (key) => {
    const link = document.querySelector(`[data-key="${key}"]`);
    if (link) link.click();
    return Boolean(link);
  };
  const move = (step) => {
    const all = rows();
    if (!all.length) return false;
    const at = all.indexOf(document.activeElement);
    all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)].focus();
    return true;
  };
  const choose = (digit) => {
    const level = [...document.querySelectorAll(".levels input")].find((one) => one.value === digit);
    if (level) { level.checked = true; level.focus(); }
    return Boolean(level);
  };
  const keys = {
    j: () => move(1), k: () => move(-1), n: () => follow("after"), p: () => follow("before"), u: () => follow("up"),
    "/": () => { const box = document.querySelector('[data-key="search"]'); if (box) box.focus(); return Boolean(box); },
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches('select, textarea, input:not([type="radio"]):not([type="checkbox"])');
    if (typing) { if (event.key === "Escape") event.target.blur(); return; }
    const done = /^[0-9]$/.test(event.key) ? choose(event.key) : Object.hasOwn(keys, event.key) && keys[event.key]();
    if (done) event.preventDefault();
  });
})();
