// The state of the page in the fragment of its address: a link opens the same view, and the browser's
// back button returns to the previous view.
(() => {
  const listeners = [];
  let current = {};

  const parse = () => {
    const out = {};
    for (const part of location.hash.slice(1).split("&")) {
      const at = part.indexOf("=");
      if (at <= 0) continue;
      try {
        out[decodeURIComponent(part.slice(0, at))] = decodeURIComponent(part.slice(at + 1));
      } catch { /* the user typed an invalid address */ }
    }
    return out;
  };
  const text = (state) => `#${Object.entries(state).filter(([, v]) => v !== "" && v !== null && v !== undefined)
    .map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v)}`).join("&")}`;

  RS.state = {
    get: (key, otherwise = "") => current[key] ?? otherwise,
    /** Changes some keys. `push`: the back button returns to the previous state. */
    set(changes, push = true) {
      const next = { ...current, ...changes };
      const hash = text(next);
      if (hash === text(current)) return;
      const before = current;
      current = next;
      try {
        if (push) history.pushState(null, "", hash);
        else history.replaceState(null, "", hash);
      } catch { /* the address cannot be changed in a frame of a notebook */ }
      tell(before);
    },
    /** Calls `call` now and whenever one of `keys` changes. */
    on(keys, call) {
      listeners.push({ keys, call });
      call();
    },
  };
  const tell = (before) => {
    for (const { keys, call } of listeners) if (keys.some((k) => before[k] !== current[k])) call();
  };
  const took = () => {
    const before = current;
    current = parse();
    tell(before);
  };
  addEventListener("popstate", took);
  addEventListener("hashchange", took);
  current = parse();

  // ---- light and dark theme: from the system, or chosen by the user
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const themeListeners = [];
  RS.onTheme = (call) => themeListeners.push(call);
  const apply = () => {
    const theme = RS.state.get("theme") || (dark.matches ? "dark" : "light");
    if (document.documentElement.dataset.theme === theme) return;
    document.documentElement.dataset.theme = theme;
    RS.readColours();
    for (const call of themeListeners) call();
  };
  RS.state.on(["theme"], apply);
  dark.addEventListener("change", apply);
  RS.toggleTheme = () =>
    RS.state.set({ theme: document.documentElement.dataset.theme === "dark" ? "light" : "dark" }, false);
  // a print is light and as wide as a sheet: charts have fixed widths, so they are redrawn before the layout
  const printListeners = [];
  RS.onPrint = (call) => printListeners.push(call);
  let shown = "";
  const forPaper = (on) => {
    document.documentElement.classList.toggle("paper", on);
    document.documentElement.dataset.theme = on ? "light" : shown;
    RS.readColours();
    for (const call of themeListeners) call();
    for (const call of printListeners) call(on);
  };
  addEventListener("beforeprint", () => {
    shown = document.documentElement.dataset.theme;
    forPaper(true);
  });
  addEventListener("afterprint", () => forPaper(false));
})();
