// What every page needs: the theme button, times in the reader's zone, and the filter menus.
(() => {
  "use strict";
  const ORDER = ["auto", "light", "dark"];
  const SIGN = { auto: "◐", light: "☀", dark: "☾" };

  const showTheme = (button) => {
    const theme = window.fuseboardTheme.current();
    button.textContent = SIGN[theme];
    const label = button.dataset[theme];
    button.setAttribute("aria-label", label);
    button.title = label;
    button.hidden = false;
  };

  const two = (n) => String(n).padStart(2, "0");
  // The server writes UTC; here the reader's own zone, with its offset, so that a copied time stays unambiguous.
  const localTimes = (root) => {
    for (const el of root.querySelectorAll("time[datetime]:not([data-done])")) {
      const at = new Date(el.dateTime);
      el.dataset.done = "";
      if (Number.isNaN(at.getTime()) || !el.dateTime.includes("T")) continue;
      const off = -at.getTimezoneOffset();
      const zone = off === 0 ? "UTC" : `${off < 0 ? "−" : "+"}${two(Math.floor(Math.abs(off) / 60))}:${two(Math.abs(off) % 60)}`;
      el.title = el.textContent.trim();
      if (el.dataset.ago !== undefined && ago(el, at)) continue;
      const seconds = el.dataset.seconds === undefined ? "" : `:${two(at.getSeconds())}`;
      el.textContent = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}${seconds} ${zone}`;
    }
  };

  // Of the last days in words: "3 minutes ago"; the title keeps the time.
  const ago = (el, at) => {
    const seconds = (Date.now() - at.getTime()) / 1000;
    if (seconds < -60 || seconds > 7 * 86400) return false;
    const [unit, size] = [["day", 86400], ["hour", 3600], ["minute", 60]].find(([, size]) => seconds >= size) || ["second", 1];
    const words = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "auto" });
    el.textContent = words.format(-Math.max(0, Math.floor(seconds / size)), unit);
    return true;
  };

  const start = () => {
    const button = document.getElementById("theme");
    if (button) {
      showTheme(button);
      button.addEventListener("click", () => {
        const next = ORDER[(ORDER.indexOf(window.fuseboardTheme.current()) + 1) % ORDER.length];
        window.fuseboardTheme.set(next);
        showTheme(button);
      });
    }
    localTimes(document);
    pin();
  };

  // The address names its price book and currency, so that what is copied from the address bar keeps its costs.
  const pin = () => {
    const link = document.querySelector("[data-copy-link]");
    if (!link || !document.getElementById("chart") || new URLSearchParams(window.location.search).has("book")) return;
    window.history.replaceState(window.history.state, "", link.href);
  };

  // Filter menus: one open at a time, closed by a click elsewhere or Escape.
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.pick[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.pick[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });

  // On a phone most filters are folded away.
  document.addEventListener("click", (event) => {
    const more = event.target.closest("#more");
    if (more) more.setAttribute("aria-expanded", String(more.form.classList.toggle("open")));
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy-link]");
    if (!button || !navigator.clipboard) return;
    event.preventDefault();
    try {
      await navigator.clipboard.writeText(button.href);
    } catch {
      return;
    }
    const before = button.textContent;
    button.textContent = button.dataset.copyLink;
    setTimeout(() => { button.textContent = before; }, 1500);
  });

  // An empty choice means all, and what means all is left out of the address.
  document.addEventListener("htmx:configRequest", (event) => {
    const parameters = event.detail.parameters;
    for (const name of Object.keys(parameters)) if (parameters[name] === "") delete parameters[name];
  });
  // A swap replaces the form too (its counts change): the menu in use stays open, and focus stays where it was.
  let open = [];
  let focused = "";
  let unfolded = false;
  document.addEventListener("htmx:beforeSwap", () => {
    open = [...document.querySelectorAll("details.pick[open]")].map((menu) => menu.id);
    focused = document.activeElement?.id || "";
    unfolded = Boolean(document.getElementById("ask")?.classList.contains("open"));
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    for (const id of open) {
      const menu = document.getElementById(id);
      if (menu) menu.open = true;
    }
    if (unfolded) document.getElementById("more")?.click();
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    localTimes(event.target);
  });

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
