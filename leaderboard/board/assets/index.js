// Filters and order of the overview. What is chosen stands in the address, so that it can be sent to somebody.
"use strict";
(() => {
  const body = document.querySelector("#tasks tbody");
  const rows = [...body.rows];
  const form = document.getElementById("filters");
  const fields = ["words", "subset", "readiness", "device", "least"].map((id) => document.getElementById(id));
  const buttons = [...document.querySelectorAll("#tasks thead button")];
  let key = "task";
  let descending = false;

  const value = (id) => document.getElementById(id).value.trim();
  const fits = (row) => {
    const d = row.dataset;
    const text = `${d.task} ${d.agent} ${d.device}`.toLowerCase();
    return value("words").toLowerCase().split(/\s+/).every((word) => text.includes(word))
      && (!value("subset") || d.subset === value("subset"))
      && (!value("readiness") || d.readiness === value("readiness"))
      && (!value("device") || d.device === value("device"))
      && (!value("least") || (d.score !== "" && Number(d.score) >= Number(value("least"))));
  };
  const filter = () => {
    let shown = 0;
    for (const row of rows) { row.hidden = !fits(row); shown += row.hidden ? 0 : 1; }
    document.getElementById("count").textContent = `${shown} of ${rows.length} tasks`;
    const chosen = new URLSearchParams(fields.filter((f) => f.value).map((f) => [f.id, f.value]));
    try { history.replaceState(null, "", chosen.size ? `#${chosen}` : location.pathname); } catch { /* not from disk */ }
  };
  const numeric = new Set(["score", "latency", "entries", "tried"]);
  const compare = (a, b) => {
    const [x, y] = [a.dataset[key], b.dataset[key]];
    if (x === "" || y === "") return (x === "") - (y === ""); // what is not known stands last, either way
    const order = numeric.has(key) ? Number(x) - Number(y) : x.localeCompare(y, "en", { numeric: true });
    return descending ? -order : order;
  };
  const sort = (button) => {
    descending = button.dataset.key === key ? !descending : numeric.has(button.dataset.key) && button.dataset.key !== "latency";
    key = button.dataset.key;
    for (const other of buttons) other.parentElement.removeAttribute("aria-sort");
    button.parentElement.setAttribute("aria-sort", descending ? "descending" : "ascending");
    rows.sort(compare);
    body.append(...rows);
  };

  for (const [id, text] of new URLSearchParams(location.hash.slice(1))) {
    const field = fields.find((f) => f.id === id);
    if (field) field.value = text;
  }
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  for (const button of buttons) button.addEventListener("click", () => sort(button));
  filter();
})();
