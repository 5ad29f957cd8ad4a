// The data of the page: one blob of JSON and typed arrays (src/pages/data/page_blob.h), unpacked once.
// Texts of a trace only become text nodes, so their content never runs as code.
"use strict";
const RS = {};

(() => {
  /** Returns the bytes of a gzip member in the text of an element. */
  async function unpack(id) {
    const element = document.getElementById(id);
    const text = atob(element.textContent.trim());
    element.textContent = "";
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  }

  const kTypes = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };

  RS.loadData = async () => {
    const buffer = await unpack("data");
    const length = new DataView(buffer).getUint32(0, true);
    const data = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    const base = Math.ceil((4 + length) / 8) * 8;
    RS.data = data;
    RS.array = (a) => new kTypes[a.t](buffer, base + a.o, a.n);
    return data;
  };

  RS.loadCharts = async () => {
    const script = document.createElement("script");
    script.textContent = new TextDecoder().decode(await unpack("echarts"));
    document.head.append(script);
  };

  /** Returns an array of nanoseconds as doubles. */
  RS.times = (t) => {
    const low = RS.array(t.lo);
    const high = t.hi ? RS.array(t.hi) : null;
    const out = new Float64Array(low.length);
    for (let i = 0; i < out.length; i++) out[i] = low[i] + (high ? high[i] * 4294967296 : 0);
    return out;
  };

  RS.string = (id) => RS.data.strings[id];

  // ---- numbers for people: three digits, and the exact value on hover
  const group = (text) => {
    const [whole, ...rest] = text.split(".");
    return [whole.replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009"), ...rest].join(".");
  };
  RS.num = (v, digits = 3) => {
    if (v === null || v === undefined || !Number.isFinite(v)) return "";
    const size = Math.abs(v);
    if (size !== 0 && (size >= 1e15 || size < 1e-4)) return v.toExponential(digits - 1);
    if (size >= 1000) return (v < 0 ? "-" : "") + group(String(Math.round(size)));
    const text = v.toPrecision(digits);
    return text.includes("e") ? String(Number(text)) : text;
  };
  /** Formats a value for an axis, without trailing zeros. */
  RS.tick = (v) => (Math.abs(v) >= 1e15 || (v !== 0 && Math.abs(v) < 1e-4) ? String(v) : group(String(Number(v.toPrecision(6)))));
  RS.percent = (v) => (Number.isFinite(v) ? `${v.toFixed(Math.abs(v) < 9.95 ? 1 : 0)} %` : "");
  RS.signed = (v, unit = "") => (v > 0 ? "+" : "") + RS.num(v) + unit;
  RS.time = (ns) => {
    const size = Math.abs(ns);
    if (size === 0) return "0";
    if (size < 1000) return `${RS.num(ns)} ns`;
    if (size < 1e6) return `${RS.num(ns / 1e3)} \u00b5s`;
    if (size < 1e9) return `${RS.num(ns / 1e6)} ms`;
    return `${RS.num(ns / 1e9)} s`;
  };
  /** Formats a time for an axis with ticks every `step`, with enough digits to distinguish them. */
  RS.clock = (ns, step) => {
    const size = Math.abs(ns);
    if (size === 0) return "0";
    const [unit, name] = size < 1e3 ? [1, "ns"] : size < 1e6 ? [1e3, "\u00b5s"] : size < 1e9 ? [1e6, "ms"] : [1e9, "s"];
    return `${group((ns / unit).toFixed(Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9))))} ${name}`;
  };
  RS.exact = (v) => (Number.isInteger(v) ? group(String(v)) : String(v));

  /** Makes an element with attributes (on...: listeners) and children; texts become text nodes. */
  RS.el = (tag, attributes = {}, ...children) => {
    const out = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) out.addEventListener(key.slice(2), value);
      else if (key === "style") out.style.cssText = value;
      else out.setAttribute(key, value === true ? "" : value);
    }
    for (const child of children.flat()) if (child !== null && child !== undefined) out.append(child);
    return out;
  };

  RS.copyText = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // a page from a file may not use the clipboard
      const area = RS.el("textarea", { style: "position:fixed;opacity:0" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };
  RS.copyButton = (text) => {
    const button = RS.el("button", { type: "button", onclick: async () => {
      await RS.copyText(text);
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    } }, "copy");
    return button;
  };

  /** Makes a list of findings: headline, button that shows the place, evidence and action. */
  RS.findings = (list) => RS.el("ul", { class: "findings" }, list.map((f) => RS.el("li", {}, f.headline, placeButton(f.place),
    f.evidence ? RS.el("div", { class: "sub" }, f.evidence) : null,
    f.action ? RS.el("div", { class: "sub" }, "\u2192 ", f.action) : null)));

  const placeButton = (place) => {
    const show = place && RS.showPlace ? RS.showPlace(place) : null;
    return show ? RS.el("button", { type: "button", onclick: show }, "show in the timeline") : null;
  };

  RS.short = (text, most = 64) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);

  // ---- colours and their meaning, the same everywhere
  RS.kinds = [
    { key: "compute", label: "computation" },
    { key: "exposed", label: "communication, exposed" },
    { key: "hidden", label: "communication, hidden" },
    { key: "copy", label: "copies" },
    { key: "idle", label: "launch, gap or unexplained" },
    { key: "idle-host", label: "host" },
  ];
  let colours = {};
  RS.readColours = () => {
    const style = getComputedStyle(document.documentElement);
    colours = new Proxy({}, { get: (_, name) => style.getPropertyValue(`--${String(name)}`).trim() });
    const fixed = {};
    for (const name of ["bg", "panel", "line", "fg", "soft", "accent", "compute", "exposed", "hidden", "copy",
      "idle", "idle-host", "idle-synchronisation", "idle-launch", "idle-queued", "idle-unknown", "good", "bad", "grey", "mark"]) fixed[name] = colours[name];
    colours = fixed;
  };
  RS.colour = (name) => colours[name];

  // ---- the box next to the pointer
  const tip = () => document.getElementById("tip");
  /** Returns a titled table. rows: [label, value] pairs; a row with an empty value is omitted. */
  RS.rows = (title, rows) => RS.el("div", {}, RS.el("b", {}, title), RS.el("table", {},
    rows.filter((r) => r[1] !== "" && r[1] !== null && r[1] !== undefined)
      .map(([label, value]) => RS.el("tr", {}, RS.el("td", {}, label), RS.el("td", {}, String(value))))));
  RS.showTip = (content, x, y) => {
    const box = tip();
    box.replaceChildren(content);
    box.hidden = false;
    const rect = box.getBoundingClientRect();
    box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - rect.width - 8))}px`;
    box.style.top = `${y + 18 + rect.height > innerHeight ? Math.max(4, y - rect.height - 10) : y + 18}px`;
  };
  RS.hideTip = () => { tip().hidden = true; };
})();
