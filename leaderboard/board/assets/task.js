// What opens below a task's table: one entry whole, two compared, and the searches that led there.
"use strict";
(async () => {
  const { make, table, time, score, plot, source, palette } = kernelarc;
  const slug = location.pathname.split("/").pop().replace(/\.html$/, "");
  const found = await kernelarc.data(decodeURIComponent(slug));
  const entries = new Map(found.entries.map((entry) => [entry.digest.slice(0, 12), entry]));
  const short = (entry) => entry.digest.slice(0, 12);
  const label = (w, i) => w.axes || `workload ${i + 1}`;
  const timed = (entry) => (entry.workloads ?? []).filter((w) => w.latency_ms);
  const chart = (title, sentence, traces, layout, below) => make("figure", {},
    make("figcaption", {}, title), plot(make("div", { class: "chart" }), sentence, traces, layout),
    below ? make("details", {}, make("summary", {}, "The same as a table"), below) : null);

  const lightBars = (entry) => {
    const rows = timed(entry).filter((w) => w.t_sol_ms);
    if (!rows.length) return make("p", { class: "quiet" }, "No bar against the speed of light: no T_SOL is known, or nothing was timed.");
    const names = rows.map(label);
    const share = (ms) => rows.map((w) => w.t_sol_ms / ms(w));
    const reached = share((w) => w.latency_ms);
    const mean = reached.reduce((sum, s) => sum + s, 0) / rows.length;
    return chart("Share of the speed of light", `On average ${(100 * mean).toFixed(0)} % of the speed of light over ${rows.length} workloads.`, [
      { type: "bar", orientation: "h", y: names, x: reached, name: "this entry", marker: { color: palette[0] } },
      { type: "scatter", mode: "markers", y: names, x: share((w) => w.t_b_ms), name: "baseline", marker: { symbol: "line-ns-open", size: 14, color: palette[1], line: { width: 3 } } },
    ], { xaxis: { title: { text: "T_SOL / T" }, tickformat: ".0%", rangemode: "tozero" }, yaxis: { autorange: "reversed" }, height: 120 + 26 * rows.length },
    table("Against T_SOL and T_b", ["Workload", "T_SOL", "T", "T_b", "Score", "Audit"],
      rows.map((w, i) => [label(w, i), time(w.t_sol_ms), time(w.latency_ms), time(w.t_b_ms), score(w.score), w.audit ?? "–"])));
  };

  const roofline = (entry) => {
    const work = entry.foreseen ?? [];
    if (!work.length) return make("p", { class: "quiet" }, "No roofline: the work of this entry could not be counted.");
    const measured = new Map(timed(entry).map((w) => [w.uuid, w]));
    const onGpu = entry.environment.kind === "cuda";
    const points = work.filter((w) => w.flops && w.bytes).map((w) => {
      const own = onGpu ? measured.get(w.uuid) : undefined;
      return { ...w, own, intensity: w.flops / w.bytes, speed: w.flops / ((own ? own.latency_ms : w.predicted_ms) * 1e-3) };
    });
    const name = Object.keys(found.roofs).find((gpu) => (onGpu ? entry.environment.device : entry.foreseen_for).split(" ").includes(gpu));
    const roofs = name ? Object.entries(found.roofs[name].peaks).map(([kind, peak]) => {
      const ridge = peak / found.roofs[name].bandwidth;
      const x = [0.05, ridge, Math.max(1e4, 4 * ridge)];
      return { type: "scatter", mode: "lines", name: `${name} ${kind}`, x, y: x.map((i) => Math.min(peak, i * found.roofs[name].bandwidth)), line: { width: 2 }, hoverinfo: "name" };
    }) : [];
    const some = (mine, text, symbol, color) => ({
      type: "scatter", mode: "markers", name: text, marker: { symbol, size: 10, color },
      x: mine.map((p) => p.intensity), y: mine.map((p) => p.speed), text: mine.map((p) => `${p.bound_by}, ${p.launches} launches`),
    });
    const both = [some(points.filter((p) => p.own), "measured", "circle", palette[0]), some(points.filter((p) => !p.own), "predicted, not measured", "circle-open", palette[1])];
    return chart("Roofline", `${points.length} workloads under the roofs of ${name ?? "an unknown GPU"}.`, [...roofs, ...both.filter((t) => t.x.length)],
      { xaxis: { type: "log", title: { text: "operations per byte" } }, yaxis: { type: "log", title: { text: "operations per second" }, exponentformat: "SI" }, height: 420 },
      table("Work and time", ["Workload", "Operations", "Bytes", "Bound by", "Launches", "Time", "Which is"],
        points.map((p) => [p.uuid, p.flops.toExponential(2), p.bytes.toExponential(2), p.bound_by, String(p.launches), time(p.own ? p.own.latency_ms : p.predicted_ms), p.own ? "measured" : "predicted"])));
  };

  const distributions = (entry) => {
    const rows = timed(entry).filter((w) => w.boxes);
    if (!rows.length) return null;
    const select = make("select");
    rows.forEach((w, i) => select.append(make("option", { value: String(i) }, label(w, i))));
    const place = make("div");
    const show = () => {
      const w = rows[Number(select.value)];
      const at = (unit) => w.latency_ms * (1 + unit * 1e-4);
      const column = (i) => w.boxes.map((box) => at(box[i]));
      place.replaceChildren(chart(`Latency, process by process (${w.timer})`,
        `${w.boxes.length} processes; medians from ${time(Math.min(...column(2)))} to ${time(Math.max(...column(2)))}.`,
        [{ type: "box", x: w.boxes.map((_, i) => `process ${i}`), lowerfence: column(0), q1: column(1), median: column(2), q3: column(3), upperfence: column(4), marker: { color: palette[0] }, name: "calls" }],
        { yaxis: { title: { text: "ms" } }, showlegend: false, height: 340 },
        table("Quantiles", ["Process", "Lowest", "Lower quartile", "Median", "Upper quartile", "Highest"],
          w.boxes.map((box, i) => [String(i), ...box.map((unit) => time(at(unit)))]))));
    };
    select.addEventListener("change", show);
    show();
    return make("div", {}, make("p", { class: "controls" }, make("label", {}, "Workload ", select)), place);
  };

  const list = (title, lines, none) => make("div", {}, make("h4", {}, title), lines?.length ? make("ul", {}, ...lines.map((line) => make("li", {}, line))) : make("p", { class: "quiet" }, none));
  const facts = (entry) => {
    const e = entry.environment;
    const rows = [
      ["Digest", entry.digest], ["Strategy", entry.strategy], ["Languages", (entry.languages ?? []).join(", ")], ["Target", entry.target],
      ["Device", [e.device, e.uuid, e.driver && `driver ${e.driver}`].filter(Boolean).join(", ")],
      ["Clocks", Object.entries(e.clocks ?? {}).map(([n, v]) => `${n} ${v}`).join(", ") || "not known"],
      ["Protocol", `${entry.protocol}, ${entry.processes} processes`], ["Isolation", e.isolation], ["Evaluator", entry.evaluator || "–"],
      ["Versions", Object.entries({ ...entry.versions, ...e.libraries }).map(([n, v]) => `${n} ${v}`).join(", ")],
      ["On the board", entry.predicted || "no prediction"],
    ];
    return make("dl", {}, ...rows.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text || "–")]));
  };
  const commands = (entry) => make("div", {}, make("h4", {}, "How to reproduce"), make("pre", { tabindex: "0", role: "region", "aria-label": "Commands" },
    make("code", {}, [entry.verify, entry.command, entry.kind === "submission" ? `kernelarc snapshot ${entry.place}` : ""].filter(Boolean).join("\n"))));
  const kernels = (entry) => (entry.kernels ? table("Kernels as compiled", ["Kernel", "Target", "Registers", "Spills", "Shared", "Launches"],
    entry.kernels.map((k) => [k.name, k.target, String(k.registers), `${k.spill_bytes} B`, `${k.shared_bytes} B`, String(k.launches)])) : null);
  const workloads = (entry) => table("Workloads", ["Workload", "Status", "Latency", "95 % interval", "Score", "Largest error", "Matched"],
    (entry.workloads ?? []).map((w, i) => [label(w, i), w.accepted ? w.status : `${w.status}, not accepted`, time(w.latency_ms),
      w.low_ms ? `${time(w.low_ms)} to ${time(w.high_ms)}` : "–", score(w.score), w.error?.toPrecision(3), w.matched?.toFixed(5)]));

  const showEntry = (entry) => {
    document.getElementById("entry").replaceChildren(
      make("h3", {}, `${entry.kind} ${short(entry)}`), facts(entry), lightBars(entry), roofline(entry), distributions(entry) ?? "", workloads(entry), kernels(entry) ?? "",
      make("div", { class: "columns" }, list("Lint", entry.lint, "nothing was found"),
        list("Policy", [`precision: ${entry.precision}`, ...(entry.flags ?? []), ...(entry.advice ?? [])], ""),
        list("Remarks", [...(entry.reasons ?? []), ...(entry.remarks ?? [])], "none")),
      commands(entry), make("h4", {}, "Source"),
      ...(entry.sources ?? []).map(([path, digest]) => source(path, found.sources[digest])),
      entry.sources ? "" : make("p", { class: "quiet" }, "Kept by its digest alone."));
    for (const row of document.querySelectorAll("tr[id^='e-']")) row.toggleAttribute("data-open", row.id === `e-${short(entry)}`);
  };
  const chosen = () => entries.get(location.hash.replace("#e-", "")) ?? found.entries[0];
  if (found.entries.length) {
    showEntry(chosen());
    addEventListener("hashchange", () => showEntry(chosen()));
  }

  const compare = () => {
    const [a, b] = ["first", "second"].map((id) => entries.get(document.getElementById(id).value));
    const mine = new Map(timed(a).map((w) => [w.uuid, w]));
    const rows = timed(b).filter((w) => mine.has(w.uuid)).map((w) => [mine.get(w.uuid), w]);
    const apart = (x, y) => (x.low_ms && y.low_ms ? (x.high_ms < y.low_ms || y.high_ms < x.low_ms ? "apart" : "overlap") : "not known");
    const place = document.getElementById("comparison");
    const same = a.environment.device === b.environment.device && (a.environment.uuid ?? "") === (b.environment.uuid ?? "");
    const warning = same ? "" : make("p", { class: "warn" }, `Measured on different cards (${a.environment.device}, ${b.environment.device}): ratios compare the cards, too.`);
    if (!rows.length) { place.replaceChildren(make("p", {}, "They have no timed workload in common.")); return; }
    const ratios = rows.map(([x, y]) => y.latency_ms / x.latency_ms);
    const mean = Math.exp(ratios.reduce((sum, r) => sum + Math.log(r), 0) / ratios.length);
    place.replaceChildren(warning, chart("Second over first", `The second takes ${mean.toFixed(3)} times as long as the first.`,
      [{ type: "bar", x: rows.map(([x], i) => label(x, i)), y: ratios, marker: { color: palette[0] }, name: "ratio" }],
      { yaxis: { title: { text: "latency, second / first" } }, showlegend: false, height: 320, shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: 1, y1: 1, line: { color: palette[1] } }] },
      table("Workload by workload", ["Workload", "First", "Second", "Second / first", "95 % intervals"],
        rows.map(([x, y], i) => [label(x, i), time(x.latency_ms), time(y.latency_ms), ratios[i].toFixed(4), apart(x, y)]))),
    make("p", {}, `Geometric mean of ${rows.length} ratios: ${mean.toFixed(4)}. Scores: ${score(a.score)} and ${score(b.score)}.`));
  };
  if (document.getElementById("first")) {
    for (const id of ["first", "second"]) {
      const select = document.getElementById(id);
      for (const entry of found.entries) select.append(make("option", { value: short(entry) }, `${short(entry)} (${entry.agent}, ${entry.readiness})`));
      select.addEventListener("change", compare);
    }
    document.getElementById("second").selectedIndex = 1;
    compare();
  }

  const figure = (run, tried) => (run.by_measurement ? tried.latency_ms : tried.predicted_ms);
  const searches = (run, dash, suffix) => {
    const agents = [...new Set((run.tried ?? []).map((t) => t.agent))];
    let best = Infinity;
    const bestSoFar = (run.tried ?? []).map((t) => (best = Math.min(best, t.status === "accepted" ? figure(run, t) ?? Infinity : Infinity)));
    const points = agents.map((agent, i) => {
      const own = run.tried.map((t, n) => ({ ...t, n: n + 1 })).filter((t) => t.agent === agent && t.status === "accepted" && figure(run, t));
      return { type: "scatter", mode: "markers", name: agent + suffix, x: own.map((t) => t.n), y: own.map((t) => figure(run, t)), text: own.map((t) => t.strategy ?? ""), marker: { size: 9, symbol: i, color: palette[i % palette.length] } };
    });
    return [...points, { type: "scatter", mode: "lines", name: `best so far${suffix}`, x: bestSoFar.map((_, n) => n + 1), y: bestSoFar.map((v) => (Number.isFinite(v) ? v : null)), line: { shape: "hv", dash, color: palette[6] } }];
  };
  const showHistory = () => {
    const [run, beside] = ["run", "beside"].map((id) => found.histories[document.getElementById(id).value]);
    const runs = beside ? [run, beside] : [run];
    const rows = runs.flatMap((r) => (r.tried ?? []).map((t, n) => [`${r.run} ${n + 1}`, t.agent, t.status === "accepted" ? "accepted" : `rejected: ${t.reason ?? ""}`, time(t.latency_ms), time(t.predicted_ms), t.strategy ?? ""]));
    const known = runs.some((r) => (r.tried ?? []).some((t) => t.status === "accepted" && figure(r, t)));
    const candidates = table("Candidates", ["Candidate", "Agent", "Verdict", "Measured", "Predicted", "Strategy"], rows);
    if (!known) {
      document.getElementById("history").replaceChildren(make("p", {}, run.command), make("p", { class: "quiet" }, "No accepted candidate has a time to plot."), candidates);
      return;
    }
    const unit = run.by_measurement ? "ms, measured" : "ms, predicted for the target";
    document.getElementById("history").replaceChildren(make("p", {}, run.command),
      chart("Candidates in the order judged", `${rows.length} candidates of ${runs.length} runs.`, [...searches(run, "solid", ""), ...(beside ? searches(beside, "dot", ` (${beside.run})`) : [])],
        { xaxis: { title: { text: "candidates judged" } }, yaxis: { title: { text: unit }, type: "log" }, height: 420 },
        candidates));
  };
  if (document.getElementById("run")) {
    document.getElementById("beside").append(make("option", { value: "" }, "nothing"));
    found.histories.forEach((history, i) => {
      for (const id of ["run", "beside"]) document.getElementById(id).append(make("option", { value: String(i) }, history.run));
    });
    for (const id of ["run", "beside"]) document.getElementById(id).addEventListener("change", showHistory);
    showHistory();
  }
  for (const section of document.querySelectorAll(".live")) section.hidden = false;
  document.body.dataset.done = "true";
})();
