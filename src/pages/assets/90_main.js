// Assembles the page.
(async () => {
  const { el } = RS;
  const loading = document.getElementById("loading");

  function head(data) {
    const when = data.begun_ms > 0 ? new Date(data.begun_ms).toISOString().slice(0, 16).replace("T", " ") + " UTC" : "";
    // a loss gets more room than a note; hovering shows the complete text
    const badge = (b) => el("li", { class: `badge ${b.severity}`, title: b.more ? `${b.text} (${b.more})` : b.text },
      b.severity === "loss" ? `\u26a0 ${RS.short(b.text, 160)}` : RS.short(b.text, 120));
    const most = 6;
    const badges = data.badges.slice(0, data.badges.length > most + 1 ? most : most + 1).map(badge);
    if (data.badges.length > badges.length) {
      const rest = data.badges.slice(badges.length);
      badges.push(el("li", {}, el("button", { type: "button", onclick: (e) => e.target.parentNode.replaceWith(...rest.map(badge)) }, `${rest.length} more`)));
    }
    // a long path is identified by its end
    const parts = data.title.split("/").filter(Boolean);
    const title = data.title.includes("/") && parts.length > 3 ? `\u2026/${parts.slice(-3).join("/")}` : data.title;
    document.getElementById("head").append(el("h1", { title: data.title }, title),
      el("p", { class: "sub" }, [data.subtitle, when, `rankscope ${data.version}`].filter(Boolean).join(" \u00b7 ")),
      badges.length ? el("ul", { class: "badges", "aria-label": "what to know first" }, badges) : "");
    document.getElementById("nav").append(el("span", { class: "grow" }),
      el("button", { type: "button", id: "theme", onclick: RS.toggleTheme, "aria-label": "light or dark" }, "\u25d0"),
      el("button", { type: "button", onclick: () => print() }, "print"));
  }

  function foot(data, words) {
    const link = (f) => (/^[\w./ -]+$/.test(f) && !f.includes("..") ? el("a", { href: encodeURI(f) }, f) : f);
    document.getElementById("foot-facts").append(
      el("h3", {}, "What the words mean"), el("dl", { class: "words" }, words.flatMap(([a, b]) => [el("dt", {}, a), el("dd", {}, b)])),
      el("h3", {}, "Made by"), el("p", {}, el("code", {}, data.command)),
      ...(data.links.length ? [el("h3", {}, "Reports of the same data"),
        el("ul", { class: "links" }, data.links.map((l) => el("li", {}, el("a", { href: l.address }, l.label))))] : []),
      data.files.length ? el("details", {}, el("summary", {}, `${data.files.length === 1 ? "1 file" : `${data.files.length} files`} read`),
        el("ul", {}, data.files.map((f) => el("li", {}, link(f))))) : "");
  }

  try {
    RS.readColours();
    const data = await RS.loadData();
    await RS.loadCharts();
    loading.remove();
    head(data);
    const show = { run: RS.showRun, sweep: RS.showSweep, comparison: RS.showComparison, history: RS.showHistory }[data.kind];
    const words = show(data);
    RS.startCharts();
    foot(data, words);
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  } catch (error) {
    loading.textContent = `This page could not be unpacked: ${error.message}`;
    document.getElementById("main").prepend(loading);
    throw error;
  }
})();
