// Spans from runs such as 12k3-5s1: so many characters under a mark, again and again.
"use strict";
kernelarc.source = (path, [text, runs]) => {
  const { make } = kernelarc;
  const code = make("code");
  let place = 0;
  for (const [, length, mark] of runs.matchAll(/(\d+)([a-z-])/g)) {
    const part = text.substr(place, Number(length));
    code.append(mark === "-" ? part : make("span", { class: mark }, part));
    place += Number(length);
  }
  code.append(text.slice(place));
  return make("details", { class: "source" }, make("summary", {}, `${path} (${text.split("\n").length} lines)`),
    make("pre", { tabindex: "0", role: "region", "aria-label": `Source of ${path}` }, code));
};
