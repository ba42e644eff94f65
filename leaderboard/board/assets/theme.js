// Dark or light: what the system says, until the button says otherwise. Kept where the browser lets a page keep things.
"use strict";
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = () => { try { return localStorage.getItem("kernelarc-theme"); } catch { return null; } };
  const keep = (theme) => { try { localStorage.setItem("kernelarc-theme", theme); } catch { /* a private window */ } };
  const show = (theme) => {
    root.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (button) { button.hidden = false; button.setAttribute("aria-pressed", String(theme === "dark")); }
    document.dispatchEvent(new Event("themechange"));
  };
  const current = () => kept() ?? (system.matches ? "dark" : "light");
  show(current());
  system.addEventListener("change", () => show(current()));
  document.addEventListener("DOMContentLoaded", () => {
    show(current());
    document.getElementById("theme").addEventListener("click", () => {
      const next = root.dataset.theme === "dark" ? "light" : "dark";
      keep(next);
      show(next);
    });
  });
})();
