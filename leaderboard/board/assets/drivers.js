// One line a series: sessions in order, one colour and symbol a driver.
"use strict";
(async () => {
  const { plot, time } = kernelarc;
  const { series } = await kernelarc.data("drivers");
  for (const box of document.querySelectorAll(".driver")) {
    const one = series[Number(box.dataset.series)];
    const drivers = [...new Set(one.points.map((p) => p.driver ?? "none"))];
    const traces = drivers.map((driver, i) => {
      const own = one.points.filter((p) => (p.driver ?? "none") === driver);
      return { type: "scatter", mode: "lines+markers", name: `driver ${driver}`, x: own.map((p) => p.taken_at), y: own.map((p) => p.ms), marker: { symbol: i, size: 9 } };
    });
    const shapes = one.steps.map((at) => ({ type: "line", x0: at, x1: at, yref: "paper", y0: 0, y1: 1, line: { dash: "dash" } }));
    plot(box, `${one.points.length} sessions under ${drivers.length} drivers, the last ${time(one.points.at(-1).ms)}.`, traces,
      { xaxis: { type: "date" }, yaxis: { title: { text: "ms" } }, height: 340, shapes });
  }
  document.body.dataset.done = "true";
})();
