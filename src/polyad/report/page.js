"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const main = document.getElementById("main");
  const views = {};
  const state = { topic: 0, weight: 0.6, word: null };

  // Everything is put in as text: nothing of a corpus is ever read as markup.
  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
      else if (name === "width") node.style.width = value;
      else if (name === "background") node.style.background = value;
      else if (value !== null && value !== false) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }
  // A word stays on one line; only one too long for a column of a narrow window may break.
  const bdi = (text) => el("bdi", { dir: "auto", class: text.length <= 16 && !text.includes(" ") && "whole" }, text);
  const percent = (share, digits = 1) =>
    share >= 0.0005 || share === 0 ? `${(100 * share).toFixed(digits)}%` : `${(100 * share).toPrecision(1)}%`;
  const number = (value) => value.toLocaleString("en");
  const clear = (node, ...children) => node.replaceChildren(...children);

  function section(id, title, ...children) {
    const node = el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), ...children);
    main.append(node);
    document.getElementById("parts").append(el("li", {}, el("a", { href: `#${id}` }, title)));
    return node;
  }

  function facts(rows) {
    return el("dl", { class: "facts" }, ...rows.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
  }

  function table(columns, rows, attributes, caption) {
    const head = columns.map((column) =>
      typeof column === "string" ? el(column ? "th" : "td", { scope: "col" }, column) : el("th", { scope: "col", class: column[1] || "n" }, column[0]));
    return el("table", attributes || {}, caption ? el("caption", {}, caption) : null,
      el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
  }

  // Charts

  async function draw(name, holder, square) {
    const spec = data.charts[name];
    const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false,
      tooltip: { disableDefaultStyle: true }, config: { background: null, view: { stroke: null }, font: "system-ui, sans-serif",
        axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" }, legend: { labelFontSize: 12, titleFontSize: 12 } } };
    const labels = ((spec.encoding || {}).y || {}).axis;
    if (labels && labels.labelLimit) {
      const wide = holder.clientWidth > 600;
      labels.labelLimit = wide ? 320 : 225;  // on a phone names of three long words are whole in small letters
      if (!wide) labels.labelFontSize = 10;
    }
    if (square) spec.width = spec.height = Math.max(holder.clientWidth - 2, 200);
    else { spec.width = "container"; spec.autosize = { type: "fit-x", contains: "padding" }; }
    const { view } = await vegaEmbed(holder, spec, options);
    views[name] = view;
    const svg = holder.querySelector("svg");
    if (svg) { svg.setAttribute("role", "img"); svg.setAttribute("aria-label", spec.description || name); hideMarks(svg); }
    view.addEventListener("click", (event, item) => {
      const topic = item && item.datum && item.datum.topic;
      if (Number.isInteger(topic) && topic >= 0) choose(topic);
    });
    if (square) new ResizeObserver(() => {
      const side = Math.max(holder.clientWidth - 2, 200);
      if (Math.abs(side - view.width()) > 2) view.width(side).height(side).runAsync();
    }).observe(holder);
    show(view);
  }
  // A picture with one description; its marks are not to be read one by one.
  function hideMarks(svg) {
    for (const node of svg.querySelectorAll("[role]"))
      for (const name of ["role", "aria-roledescription", "aria-label"]) node.removeAttribute(name);
  }
  function show(view) {
    const lit = state.word === null ? [] : weightsOf(state.word);
    for (const [signal, value] of [["chosen", state.topic], ["lit", lit]])
      try { view.signal(signal, value); } catch (error) { /* this chart has no such signal */ }
    view.runAsync();
  }
  function chart(name, caption, square) {
    const holder = el("div", { class: square ? "chart map" : "chart" });
    const figure = el("figure", { "data-chart": name }, holder, caption ? el("figcaption", {}, caption) : null);
    drawings.push([name, holder, square]);
    return figure;
  }
  const drawings = [];
  // Drawings as wide as a window would be too small to read on paper.
  const onPaper = { map: 250 };
  addEventListener("beforeprint", () => {
    for (const [name, view] of Object.entries(views)) {
      const width = onPaper[name] || 640;
      if (name === "map") view.height(width);
      view.width(width).run();
    }
  });
  addEventListener("afterprint", () => {
    for (const [name, holder, square] of drawings) {
      if (!views[name]) continue;
      if (square) views[name].height(holder.clientWidth - 2);
      views[name].width(holder.clientWidth - 2).run();
    }
    dispatchEvent(new Event("resize"));
  });

  // Topics

  // A name in a script that runs from right to left keeps to itself: the number stays in front of it.
  const label = (k) => `${k} · \u2068${data.topics[k].name}\u2069`;
  const topicButton = (k, text) =>
    el("button", { class: "link", type: "button", "data-topic": k, on: { click: () => choose(k, true) } },
      text ? null : `${k} · `, bdi(text || data.topics[k].name));

  function weightsOf([v, w]) {
    const weights = new Array(data.topics.length).fill(0);
    const pairs = data.views[v].topicsOf[w];
    for (let at = 0; at < pairs.length; at += 2) weights[pairs[at]] = pairs[at + 1] / 1000;
    return weights;
  }

  const hasErrors = data.views && data.views.some((view) => view.wordsOf.some((words) => words.length && words[0].length > 2));
  function topicSection() {
    const select = el("select", { id: "topic-select", "aria-label": "Topic", on: { change: () => choose(+select.value) } },
      ...data.topics.map((topic, k) => el("option", { value: k }, label(k))));
    const step = (by) => () => choose((state.topic + by + data.topics.length) % data.topics.length);
    const slider = el("input", { type: "range", id: "weight", min: 0, max: 1, step: 0.1, value: state.weight,
      "aria-describedby": "weight-help", on: { input: () => { state.weight = +slider.value; words(); } } });
    const left = el("div", { class: "side" },
      chart("map", "Each circle is a topic; its area is its share of all words. Topics that share words are close.", true),
      el("div", { id: "word-box", "aria-live": "polite" }));
    const right = el("div", {},
      el("div", { class: "bar-row no-print" },
        el("button", { type: "button", id: "previous", on: { click: step(-1) } }, "Previous"), select,
        el("button", { type: "button", id: "next", on: { click: step(1) } }, "Next")),
      el("h3", { id: "topic-title", "aria-live": "polite" }), el("div", { id: "topic-facts" }),
      el("div", { class: "no-print" },
        el("label", { for: "weight" }, "Weight of the frequency, λ = "), el("output", { id: "weight-value", for: "weight" }), " ", slider,
        el("p", { class: "soft", id: "weight-help" }, "At 1 the most frequent words of the topic come first, at 0 those that other topics lack.")),
      el("p", {}, el("span", { class: "key" }), "in all texts ", el("span", { class: "key own" }), "in this topic"),
      el("p", { class: "soft" }, `Of the topic: the share of its words that are this one${hasErrors ? ", ± its standard error" : ""}. Of the word: the share of its uses that belong to the topic.`),
      el("div", { class: "pair", id: "words" }), el("div", { id: "topic-groups" }));
    section("topics", "Topics", el("div", { class: "cols" }, left, right));
    if (data.documents.length) section("documents", "Typical documents",
      el("p", { class: "soft", id: "documents-lead" }), el("ol", { class: "docs", id: "documents-list" }));
  }

  function words() {
    document.getElementById("weight-value").textContent = state.weight.toFixed(1);
    clear(document.getElementById("words"), ...data.views.map((view, v) => wordTable(view, v)));
  }
  function wordTable(view, v) {
    const share = data.topics[state.topic].share;
    const ranked = view.wordsOf[state.topic]
      .map(([w, p, error]) => ({ w, p, error, score: Math.log(p) - (1 - state.weight) * Math.log(view.overall[w]) }))
      .sort((a, b) => b.score - a.score || a.w - b.w).slice(0, data.nWords);
    const most = Math.max(...ranked.map(({ w, p }) => Math.max(view.overall[w], p * share)));
    const rows = ranked.map(({ w, p, error }) => el("tr", {},
      el("td", {}, el("button", { class: "link", type: "button", "data-word": w, "data-view": v,
        on: { click: () => chooseWord([v, w]) } }, bdi(view.words[w]))),
      el("td", {}, el("div", { class: "bar" }, el("i", { width: `${(100 * view.overall[w]) / most}%` }),
        el("i", { width: `${(100 * Math.min(p * share, view.overall[w])) / most}%` }))),
      el("td", { class: "n" }, percent(p, 2), error === undefined ? null : el("span", { class: "error" }, ` ± ${percent(error, 2)}`)),
      el("td", { class: "n" }, percent(Math.min((p * share) / view.overall[w], 1), 0))));
    return table(["Word", "Frequency", ["Of the topic"], ["Of the word"]], rows, { class: "words" }, view.name || "Words of the topic");
  }

  function topicFacts() {
    const topic = data.topics[state.topic];
    clear(document.getElementById("topic-title"), `Topic ${state.topic} · `, bdi(topic.name));
    const rows = [["Share", `${percent(topic.share)} of all words` + (topic.leading === undefined ? "" : `; the largest topic of ${number(topic.leading)} documents`)]];
    if (topic.coherence !== undefined) rows.push(["Coherence", `${topic.coherence.toFixed(2)} (its words come together in documents: 1 always, 0 by chance)`]);
    if (topic.stability !== undefined) rows.push(["Stability", `${percent(topic.stability, 0)} of it stays in another sample of documents`]);
    if (topic.certainty !== undefined) rows.push(["Certainty", `${topic.certainty.toFixed(2)}` + (topic.certainty < data.determined ? ": the documents do not settle this topic" : ": the documents settle this topic")]);
    const node = facts(rows);
    if (topic.alike.length) node.append(el("dt", {}, "Most alike"), el("dd", {},
      ...topic.alike.map(([k, mass]) => el("div", {}, topicButton(k), ` ${percent(mass, 0)} shared`))));
    clear(document.getElementById("topic-facts"), node);
    if (data.groups) clear(document.getElementById("topic-groups"), groupBars());
  }
  function groupBars() {
    const shares = data.groups.shares.map((row) => row[state.topic]);
    const most = Math.max(...shares, 1e-9);
    return table(["Group", "Share of this topic", [""]], data.groups.names.map((name, g) => el("tr", {}, el("td", {}, bdi(name)),
      el("td", {}, el("div", { class: "bar" }, el("i", {}), el("i", { width: `${(100 * shares[g]) / most}%` }))),
      el("td", { class: "n" }, percent(shares[g])))), { class: "groups" }, data.groups.title);
  }

  function documentItem([d, share, texts], k) {
    const [id, , others] = data.documents[d];
    const more = others.filter(([other]) => other !== k).slice(0, 3);
    return el("li", {},
      el("p", {}, el("span", { class: "id" }, bdi(id)), ` · ${percent(share, 0)} of it is topic ${k}`,
        more.length ? "; also " : null, ...more.flatMap(([other, s], at) => [at ? ", " : "", topicButton(other), ` ${percent(s, 0)}`])),
      ...texts.map((segments, v) => el("p", { dir: "auto" }, texts.length > 1 ? el("b", {}, `${data.views[v].name}: `) : null,
        ...segments.map((text, at) => (at % 2 ? el("mark", {}, text) : text)))));
  }
  function documents() {
    const list = document.getElementById("documents-list");
    if (!list) return;
    clear(document.getElementById("documents-lead"), `Those with the largest share of topic ${state.topic} · `, bdi(data.topics[state.topic].name), ", its words marked.");
    clear(list, ...data.documentsOf[state.topic].map((entry) => documentItem(entry, state.topic)));
  }

  function choose(k, move) {
    state.topic = k;
    state.word = null;
    clear(document.getElementById("word-box"));
    document.getElementById("topic-select").value = k;
    for (const row of document.querySelectorAll("tr[data-row]")) row.setAttribute("aria-current", String(+row.dataset.row === k));
    const keys = [...document.querySelectorAll("[data-swatch]")], drawn = keys.some((key) => +key.dataset.swatch === k);
    for (const key of keys) key.classList.toggle("faint", drawn && +key.dataset.swatch !== k);
    topicFacts(); words(); documents();
    Object.values(views).forEach(show);
    history.replaceState(null, "", `#topic-${k}`);
    if (move) { document.getElementById("topics").scrollIntoView(); document.getElementById("topic-select").focus({ preventScroll: true }); }
  }
  function chooseWord(word) {
    state.word = word;
    const [v, w] = word, view = data.views[v], pairs = view.topicsOf[w], rows = [];
    for (let at = 0; at < pairs.length; at += 2) rows.push(el("tr", {}, el("td", {}, topicButton(pairs[at])),
      el("td", {}, el("div", { class: "bar" }, el("i", {}), el("i", { width: `${pairs[at + 1] / 10}%` }))),
      el("td", { class: "n" }, percent(pairs[at + 1] / 1000, 0))));
    clear(document.getElementById("word-box"), el("h3", {}, "The word ", bdi(view.words[w])),
      el("p", { class: "soft" }, `${percent(view.overall[w], 3)} of all words; its topics are lit in the map.`),
      table(["Topic", "Where it stands", [""]], rows, { class: "words" }));
    Object.values(views).forEach(show);
  }

  function searchSection() {
    const input = el("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false", on: { input: () => search(input.value) } });
    section("find", "Search", el("p", {}, el("label", { for: "search" }, data.documents.length ? "A word, or part of a typical document" : "A word")),
      input, el("p", { class: "status", role: "status", id: "found" }), el("div", { id: "results" }));
  }
  function search(asked) {
    const text = asked.trim().toLocaleLowerCase(), results = document.getElementById("results");
    if (!text) { clear(results); document.getElementById("found").textContent = ""; return; }
    const hits = [];
    data.views.forEach((view, v) => view.words.forEach((word, w) => {
      const at = word.toLocaleLowerCase().indexOf(text);
      if (at >= 0) hits.push([at > 0, word.length - text.length, v, w]);
    }));
    hits.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[3] - b[3]);
    const entries = [];
    data.documentsOf.forEach((list, k) => list.forEach((entry) => {
      const [id] = data.documents[entry[0]];
      if (id.toLocaleLowerCase().includes(text) || entry[2].some((segments) => segments.join("").toLocaleLowerCase().includes(text))) entries.push([entry, k]);
    }));
    const seen = new Set(), found = entries.filter(([[d]]) => !seen.has(d) && seen.add(d));
    const several = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
    document.getElementById("found").textContent = several(hits.length, "word") + (data.documents.length ? ` and ${several(found.length, "typical document")}` : "");
    clear(results,
      hits.length ? el("ul", { class: "legend" }, ...hits.slice(0, 24).map(([, , v, w]) => el("li", {}, el("button", { type: "button", class: "link", "data-found": w,
        on: { click: () => { chooseWord([v, w]); document.getElementById("word-box").scrollIntoView({ block: "center" }); } } }, bdi(data.views[v].words[w]))))) : "",
      found.length ? el("ol", { class: "docs" }, ...found.slice(0, 10).map(([entry, k]) => documentItem(entry, k))) : "");
  }

  function timeSection() {
    if (!data.times) return;
    const swatch = ([k, colour]) => el("li", {}, el("span", { class: "key", background: colour, "data-swatch": k }), k < 0 ? "all others" : topicButton(k));
    section("time", data.times.title, el("p", { class: "soft" }, data.times.note), chart("time"), el("ul", { class: "legend" }, ...data.times.colours.map(swatch)));
  }
  function groupSection() {
    if (!data.groups || !data.charts.groups) return;
    section("groups", data.groups.title, el("p", { class: "soft" }, data.groups.note), chart("groups"));
  }
  function allSection() {
    const has = (name) => data.topics.some((topic) => topic[name] !== undefined);
    const extra = [["coherence", "Coherence", (x) => x.toFixed(2)], ["stability", "Stability", (x) => percent(x, 0)], ["certainty", "Certainty", (x) => x.toFixed(2)]].filter(([name]) => has(name));
    const rows = data.topics.map((topic, k) => el("tr", { "data-row": k },
      el("td", { class: "n" }, String(k)), el("td", {}, topicButton(k, topic.name)), el("td", { class: "n" }, percent(topic.share)),
      ...extra.map(([name, , form]) => el("td", { class: "n more" }, topic[name] === undefined ? "" : form(topic[name]))),
      el("td", {}, ...data.views.map((view, v) => el("div", {}, ...topic.top[v].flatMap((w, at) => [at ? ", " : "", bdi(view.words[w])])))) ));
    section("all", "All topics", el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of all topics" },
      table([["Topic"], "Name", ["Share"], ...extra.map(([, title]) => [title, "n more"]), "Words"], rows, { class: "wide topics" })));
    // In a narrow window the words of a topic stand below its name, and rows are no rows of a table for a browser any more.
    for (const [tags, role] of [["", "table"], ["thead, tbody", "rowgroup"], ["tr", "row"], ["th", "columnheader"], ["td", "cell"]])
      for (const node of tags ? document.querySelectorAll(`.topics :is(${tags})`) : document.querySelectorAll(".topics")) node.setAttribute("role", role);
    if (data.charts.tree) section("tree", "Which topics are alike", el("p", { class: "soft" }, "Topics that share most of their words join first, at the right."), chart("tree"));
  }
  function fitSection() {
    const parts = [facts(data.facts)];
    for (const [name, title, text] of data.fitCharts) parts.push(el("h3", {}, title), el("p", { class: "soft" }, text), chart(name));
    section("fit", "How the fit went", ...parts);
  }

  // Pages of other models are sections of charts and tables.
  function plainSections() {
    data.sections.forEach(([title, text, charts, rows], at) => section(`part-${at}`, title, el("p", { class: "soft" }, text),
      ...charts.map(([name, caption]) => chart(name, caption)),
      rows ? el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, table(rows[0].map((name, c) => (c && rows[1][c].length < 16 ? [name] : name)),
        rows.slice(1).map((row) => el("tr", {}, ...row.map((cell, c) => el("td", { class: c && cell.length < 16 ? "n" : "" }, bdi(cell))))), { class: "wide plain" })) : null));
  }

  document.getElementById("lead").textContent = data.lead;
  if (data.kind === "topics") {
    topicSection(); searchSection(); timeSection(); groupSection(); allSection();
    const asked = /^#topic-(\d+)$/.exec(location.hash);
    choose(asked && +asked[1] < data.topics.length ? +asked[1] : 0);
  } else plainSections();
  if (data.facts.length) fitSection();
  Promise.all(drawings.map((drawing) => draw(...drawing))).then(() => document.body.setAttribute("data-drawn", "yes"));
})();
