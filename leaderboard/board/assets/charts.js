// Receives the data, makes elements, and draws with Plotly, which is loaded when the first plot comes into view.
"use strict";
const kernelarc = (() => {
  const waiting = new Map();
  const arrived = new Map();
  const unpack = async (packed) => {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };
  const receive = (name, packed) => {
    arrived.set(name, packed);
    waiting.get(name)?.(unpack(packed));
  };
  const data = (name) => new Promise((resolve) => {
    if (arrived.has(name)) resolve(unpack(arrived.get(name)));
    else waiting.set(name, resolve);
  });

  // make("td", {class: "number"}, "text", child): attributes first, then what is inside
  const make = (tag, attributes = {}, ...inside) => {
    const element = document.createElement(tag);
    for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
    element.append(...inside.filter((part) => part !== null && part !== undefined));
    return element;
  };
  const table = (caption, heads, rows, label) => {
    const cells = (tag, row) => row.map((cell, i) =>
      make(i === 0 && tag === "td" ? "th" : tag, { scope: tag === "th" ? "col" : "row" }, cell ?? "–"));
    const body = rows.map((row) => make("tr", {}, ...cells("td", row).map((cell, i) => {
      if (i > 0) cell.removeAttribute("scope");
      return cell;
    })));
    return make("div", { class: "wide", role: "region", tabindex: "0", "aria-label": label ?? caption },
      make("table", {}, make("caption", { class: "quiet" }, caption),
        make("thead", {}, make("tr", {}, ...cells("th", heads))), make("tbody", {}, ...body)));
  };
  const time = (ms) => {
    if (ms === undefined || ms === null) return "–";
    return ms >= 1 ? `${Number(ms.toPrecision(4))} ms` : `${Number((ms * 1e3).toPrecision(4))} µs`;
  };
  const score = (s) => (s === undefined || s === null ? "–" : s.toFixed(4));

  let library = null;
  const plotly = () => {
    library ??= new Promise((resolve, reject) => {
      const script = make("script", { src: `${document.body.dataset.root}assets/plotly.min.js` });
      script.onload = () => resolve(window.Plotly);
      script.onerror = () => reject(new Error("assets/plotly.min.js is missing"));
      document.head.append(script);
    });
    return library;
  };
  const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#f0e442"];
  const drawn = new Map();
  const draw = async (box) => {
    const library_ = await plotly();
    const { traces, layout } = drawn.get(box);
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim();
    const line = style.getPropertyValue("--line").trim();
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
    const axes = Object.fromEntries(Object.entries(layout).filter(([name]) => /^[xy]axis/.test(name))
      .map(([name, given]) => [name, { ...axis, ...given }]));
    await library_.react(box, traces, {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", colorway: palette, autosize: true,
      font: { color: ink, family: "system-ui, sans-serif", size: 13 }, margin: { l: 60, r: 16, t: 16, b: 48 },
      legend: { orientation: "h", y: -0.22 }, hoverlabel: { align: "left" }, ...layout, ...axes,
    }, { responsive: true, displayModeBar: false });
  };
  const watcher = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      watcher.unobserve(target);
      draw(target);
    }
  }, { rootMargin: "200px" });
  document.addEventListener("themechange", () => {
    for (const box of drawn.keys()) {
      if (!box.isConnected) drawn.delete(box);
      else if (box.classList.contains("js-plotly-plot")) draw(box);
    }
  });
  // On paper everything is seen at once.
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("figure details, .source")) details.open = true;
    for (const box of drawn.keys()) if (box.isConnected) draw(box);
  });
  // A plot is a picture with a sentence; the figures themselves stand in a table beside it.
  const plot = (box, sentence, traces, layout) => {
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", sentence);
    drawn.set(box, { traces, layout });
    watcher.observe(box);
    return box;
  };
  return { receive, data, make, table, time, score, plot, palette };
})();
