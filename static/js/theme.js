// Before the first paint: that scripts run, and the theme that was chosen on this device. Without a choice the system's own is used.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");
  const kept = () => {
    try { return localStorage.getItem("theme"); } catch { return null; }
  };
  const apply = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  apply(kept());
  window.fuseboardTheme = {
    current: () => root.dataset.theme || "auto",
    set(theme) {
      apply(theme);
      try {
        if (theme === "auto") localStorage.removeItem("theme");
        else localStorage.setItem("theme", theme);
      } catch { /* a browser that keeps nothing: the choice lasts for this page */ }
      document.dispatchEvent(new Event("themechange"));
    },
  };
})();
