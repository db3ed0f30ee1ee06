"use strict";
(() => {
  const token = location.hash.slice(1) || sessionStorage.getItem("token") || "";
  const $ = (id) => document.getElementById(id);
  const make = (tag, name, text) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const say = (text, bad = false) => {
    $("saved").textContent = text;
    $("saved").classList.toggle("bad", bad);
  };
  const stop = (text, good = false) => {
    $("message").textContent = text;
    $("message").classList.toggle("good", good);
    $("message").hidden = !text;
  };
  const tab = Array.from(crypto.getRandomValues(new Uint32Array(3)), (n) => n.toString(36)).join("");
  const ask = (path, options = {}) => fetch(path, {
    ...options, cache: "no-store", credentials: "omit",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "X-Tab": tab },
  });

  // Two tabs of one rater do not see each other's answers, so the later one says so.
  const elsewhere = (open) => { $("elsewhere").hidden = !open; };
  const stay = async () => {
    try {
      const reply = await ask("/api/tab", { method: "PUT", body: "true" });
      if (reply.ok) elsewhere((await reply.json()).elsewhere);
    } catch { /* saving says it where the server is gone */ }
  };

  let work = null, at = 0, shown = null, answers = {}, turn = 0;
  const cache = new Map();

  // Saving: one request at a time, the latest answer to each question, again until it is kept.
  const waiting = new Map();
  let sending = false;
  // What was not taken stays on the page until the next answer, though an earlier one is saved.
  let refused = false;
  const save = (judgement, question, answer) => {
    waiting.set(`${judgement} ${question}`, { judgement, question, answer });
    refused = false;
    say("Saving");
    const kept = cache.get(judgement);
    if (kept) kept.then((one) => {
      if (answer === null) delete one.answers[question]; else one.answers[question] = answer;
    });
    send();
  };
  const send = async () => {
    if (sending) return;
    sending = true;
    while (waiting.size) {
      const [key, one] = waiting.entries().next().value;
      try {
        const reply = await ask(`/api/judgement/${one.judgement}`, {
          method: "PUT", body: JSON.stringify({ question: one.question, answer: one.answer }),
        });
        if (!reply.ok && reply.status < 500) {
          say(`Not kept: ${(await reply.json()).error}`, true);
          waiting.delete(key);
          continue;
        }
        if (!reply.ok) throw new Error(String(reply.status));
        work.open[work.ids.indexOf(one.judgement)] = (await reply.json()).open;
        if (waiting.get(key) === one) waiting.delete(key);
        if (!waiting.size && !refused) say("Saved");
        count();
      } catch {
        say("Not saved yet: the server does not answer. Trying again.", true);
        await new Promise((done) => setTimeout(done, 1500));
      }
    }
    sending = false;
  };
  addEventListener("beforeunload", (event) => {
    flush();
    if (waiting.size) event.preventDefault();
  });

  const count = () => {
    const done = work.open.filter((left) => left === 0).length;
    $("bar").max = work.ids.length;
    $("bar").value = done;
    $("done").textContent = `${done} of ${work.ids.length} done`;
    const all = done === work.ids.length;
    stop(all ? "Everything is done. Thank you. You can still go back and change answers." : "", true);
  };

  const load = (id) => {
    if (!cache.has(id)) {
      const one = ask(`/api/judgement/${id}`).then((reply) => {
        if (!reply.ok) throw new Error(String(reply.status));
        return reply.json();
      });
      one.catch(() => cache.delete(id));
      cache.set(id, one);
      if (cache.size > 50) cache.delete(cache.keys().next().value);
    }
    return cache.get(id);
  };

  const form = () => work.forms[work.form_of[at]];
  const applies = (q) => !q.parent || (answers[q.parent] || []).includes(q.label);
  const isOpen = (q) => applies(q) && answers[q.name] === undefined;
  const fieldset = (index) => $("form").children[index];
  const first = (index) => fieldset(index).querySelector("input:checked, input, textarea");
  // A scale of single digits is answered by its own digits, anything else by the place of an answer.
  const keyOf = (named, place) => {
    if (named.every((name) => /^[0-9]$/.test(name))) return named[place];
    return place < 9 ? String(place + 1) : "";
  };
  const choices = (q) => (q.none ? [...q.options, q.none] : q.options);

  const show = async (index) => {
    flush();
    const mine = ++turn;
    let one;
    try {
      one = await load(work.ids[index]);
    } catch {
      say("The task could not be fetched. Try again.", true);
      return;
    }
    if (mine !== turn) return;
    at = index;
    shown = one;
    answers = { ...one.answers };
    $("task").textContent = `Task ${at + 1} of ${work.ids.length}`;
    $("number").value = at + 1;
    $("number").max = work.ids.length;
    $("back").disabled = at === 0;
    $("next").disabled = at === work.ids.length - 1;
    $("texts").replaceChildren(...one.shown.filter(([, text], i) => text || sided(one, i)).map(textOf));
    $("form").replaceChildren(...form().map(questionOf));
    mark();
    scrollTo(0, 0);
    $("task").focus({ preventScroll: true });
    if (at + 1 < work.ids.length) load(work.ids[at + 1]).catch(() => {});
  };
  const sided = (one, index) => work.task === "pairwise" && index >= one.shown.length - 2;
  const textOf = ([title, text]) => {
    const side = work.task === "pairwise" && shown.shown.slice(-2).some((pair) => pair[0] === title);
    const article = make("article", side ? "side" : "");
    const words = make("p", text ? "text" : "text none", text || "(no text)");
    words.dir = "auto";
    article.append(make("h3", "", title), words);
    return article;
  };

  const questionOf = (q, index) => {
    const set = make("fieldset", q.parent ? "finer" : "");
    const legend = make("legend", "", q.name);
    const said = [q.asked, q.at_most > 1 ? `Up to ${q.at_most}.` : ""].filter(Boolean).join(" ");
    if (said) legend.append(" ", make("span", "asked", said));
    set.append(legend);
    if (q.kind === "text") set.append(wordsOf(q, index, legend));
    else set.append(optionsOf(q, index));
    if (q.kind === "one") set.append(clearOf(q, index));
    return set;
  };
  const wordsOf = (q, index, legend) => {
    legend.id = `legend-${index}`;
    const words = make("textarea");
    words.setAttribute("aria-labelledby", legend.id);
    words.dir = "auto";
    words.maxLength = work.most_words;
    words.value = answers[q.name] || "";
    words.addEventListener("input", () => { later(q, words); });
    words.addEventListener("blur", flush);
    return words;
  };
  const optionsOf = (q, index) => {
    const named = choices(q), hints = q.hints || [];
    const short = named.every((name) => name.length <= 4) && !hints.some(Boolean);
    const look = short ? "short" : q.kind === "many" ? "many" : named.length === 5 && !hints.some(Boolean) ? "level" : "";
    const box = make("div", `options ${look}`);
    named.forEach((name, place) => {
      const label = make("label", "option"), input = make("input"), words = make("span", "", name);
      input.type = q.kind === "one" ? "radio" : "checkbox";
      input.name = `question-${index}`;
      input.value = name;
      input.checked = [answers[q.name] || []].flat().includes(name);
      input.addEventListener("change", () => choose(q, index, input));
      if (hints[place]) words.append(make("span", "hint", hints[place]));
      label.append(input, words);
      const digit = keyOf(named, place);
      if (digit && digit !== name) {
        const key = make("kbd", "", digit);
        key.setAttribute("aria-hidden", "true");
        label.append(key);
      }
      box.append(label);
    });
    return box;
  };
  const clearOf = (q, index) => {
    const clear = make("button", "clear", "clear");
    clear.type = "button";
    clear.setAttribute("aria-label", `Clear the answer to ${q.name}`);
    clear.hidden = answers[q.name] === undefined;
    clear.addEventListener("click", () => {
      for (const input of fieldset(index).querySelectorAll("input")) input.checked = false;
      set(q, null);
      first(index).focus();
    });
    return clear;
  };

  const set = (q, answer) => {
    if (answer === null) delete answers[q.name]; else answers[q.name] = answer;
    save(shown.id, q.name, answer);
    mark();
  };
  const choose = (q, index, input) => {
    if (q.kind === "one") { set(q, input.value); return; }
    const inputs = [...fieldset(index).querySelectorAll("input")];
    if (input.checked && q.none) {
      for (const other of inputs) {
        if (other !== input && (input.value === q.none || other.value === q.none)) other.checked = false;
      }
    }
    const named = inputs.filter((one) => one.checked).map((one) => one.value);
    if (named.length > q.at_most) {
      input.checked = false;
      refused = true;
      say(`At most ${q.at_most}: take one away first.`, true);
      return;
    }
    set(q, named.length ? named : null);
  };
  // Words are kept while they are typed, a moment after each pause.
  let timer = 0, typed = null;
  const later = (q, words) => {
    const judgement = shown.id;
    typed = () => {
      const text = words.value.trim();
      if (text) answers[q.name] = text; else delete answers[q.name];
      save(judgement, q.name, text || null);
    };
    say("Saving");
    clearTimeout(timer);
    timer = setTimeout(flush, 400);
  };
  const flush = () => {
    clearTimeout(timer);
    const keep = typed;
    typed = null;
    if (keep) { keep(); mark(); }
  };

  const currentIndex = () => {
    const here = document.activeElement?.closest?.("fieldset");
    if (here) return [...$("form").children].indexOf(here);
    const open = form().findIndex(isOpen);
    return open < 0 ? 0 : open;
  };
  const mark = () => {
    form().forEach((q, index) => {
      fieldset(index).hidden = !applies(q);
      const clear = fieldset(index).querySelector(".clear");
      if (clear) clear.hidden = answers[q.name] === undefined;
    });
    const current = currentIndex();
    [...$("form").children].forEach((one, index) => one.classList.toggle("current", index === current));
  };
  $("form").addEventListener("focusin", mark);
  $("form").addEventListener("focusout", () => setTimeout(mark));

  const move = (step) => {
    const to = at + step;
    if (to >= 0 && to < work.ids.length) show(to);
  };
  const nextOpen = () => {
    flush();
    const order = [...work.ids.keys()].map((index) => (at + 1 + index) % work.ids.length);
    const to = order.find((index) => work.open[index] > 0);
    if (to === undefined) count(); else show(to);
  };
  const pick = (digit) => {
    const index = currentIndex(), q = form()[index];
    const place = choices(q).findIndex((_, where, named) => keyOf(named, where) === digit);
    const input = fieldset(index).querySelectorAll("input")[place];
    if (!input) return;
    input.checked = q.kind === "one" ? true : !input.checked;
    choose(q, index, input);
    if (q.kind !== "one") { input.focus(); return; }
    const open = form().findIndex((other, place) => place > index && isOpen(other));
    if (open < 0) $("next").focus(); else first(open).focus();
  };
  addEventListener("keydown", (event) => {
    if (!work || !shown || event.altKey || event.metaKey || event.isComposing) return;
    const target = event.target instanceof Element ? event.target : document.body;
    const words = target.closest("textarea"), number = target.id === "number";
    if (event.key === "Enter" && (words ? event.ctrlKey : !target.closest("button, a, summary"))) {
      event.preventDefault();
      if (number) jump(); else move(1);
    } else if (words || number || event.ctrlKey) {
      return;
    } else if (/^Arrow(Left|Right)$/.test(event.key) && !event.shiftKey) {
      event.preventDefault();
      move(event.key === "ArrowRight" ? 1 : -1);
    } else if (/^[0-9]$/.test(event.key)) {
      event.preventDefault();
      // An answer moves on to the next question: a key held down would answer that one too.
      if (!event.repeat) pick(event.key);
    }
  });
  const jump = () => {
    const to = Number($("number").value);
    if (Number.isInteger(to) && to >= 1 && to <= work.ids.length) show(to - 1);
    else $("number").value = at + 1;
  };
  // By its address alone the link would put itself where the token stands.
  $("skip").addEventListener("click", (event) => {
    event.preventDefault();
    $("task").focus();
  });
  $("form").addEventListener("submit", (event) => event.preventDefault());
  $("number").addEventListener("change", jump);
  $("back").addEventListener("click", () => move(-1));
  $("next").addEventListener("click", () => move(1));
  $("open").addEventListener("click", nextOpen);
  $("download").addEventListener("click", async () => {
    flush();
    const reply = await ask("/api/answers.csv");
    if (!reply.ok) { say("The answers could not be fetched. Try again.", true); return; }
    const link = make("a");
    link.href = URL.createObjectURL(await reply.blob());
    link.download = "answers.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });

  const begin = async () => {
    const reply = await ask("/api/work");
    if (!reply.ok) {
      stop((await reply.json()).error);
      return;
    }
    sessionStorage.setItem("token", token);
    work = await reply.json();
    elsewhere(work.elsewhere);
    setInterval(stay, 10000);
    addEventListener("pagehide", () => {
      ask("/api/tab", { method: "PUT", body: "false", keepalive: true }).catch(() => {});
    });
    addEventListener("pageshow", (event) => { if (event.persisted) stay(); });
    $("title").textContent = work.title;
    document.title = work.title;
    $("rater").textContent = `Rater ${work.rater}`;
    if (work.instructions) {
      $("about").hidden = false;
      $("instructions").textContent = work.instructions;
    }
    $("work").hidden = false;
    count();
    at = work.at;
    const open = work.open.findIndex((left, index) => index >= at && left > 0);
    await show(open < 0 ? at : open);
  };
  begin().catch(() => stop("The server does not answer. Is it still running? Reload this page to try again."));
})();
