// The only layer over ECharts: chart size, theme colours, hover boxes as elements, a button that shows the
// data as a table, and a label for users who cannot see the chart.
(() => {
  const { el } = RS;
  const charts = [];

  /**
   * Makes a chart. options() returns the ECharts option in the current colours. more: {label, height,
   * onClick(params), tip(params) -> element, canvas}. Returns the node.
   */
  RS.chart = (options, more) => {
    const node = el("div", { class: "chart", role: "img", "aria-label": more.label, style: `height:${more.height || 320}px` });
    const entry = { node, options, more, chart: null };
    charts.push(entry);
    return node;
  };

  const common = (o, more) => {
    const soft = RS.colour("soft");
    const axis = (a, horizontal) => ({
      nameLocation: "middle", nameGap: horizontal ? 28 : 44, nameTextStyle: { color: soft }, axisLine: { lineStyle: { color: RS.colour("line") } },
      splitLine: { lineStyle: { color: RS.colour("line"), opacity: 0.6 } }, ...a,
      axisLabel: { color: soft, hideOverlap: true, ...(a.axisLabel || {}) },
    });
    const each = (v, horizontal) => (Array.isArray(v) ? v.map((a) => axis(a, horizontal)) : v ? axis(v, horizontal) : v);
    return {
      animation: false, textStyle: { fontFamily: "system-ui, sans-serif", color: RS.colour("fg") },
      grid: { left: 60, right: 16, top: 16, bottom: 44 },
      ...o,
      xAxis: each(o.xAxis, true), yAxis: each(o.yAxis, false),
      tooltip: more.tip ? {
        trigger: more.axis ? "axis" : "item", transitionDuration: 0, confine: true, backgroundColor: RS.colour("bg"), borderColor: RS.colour("line"),
        textStyle: { color: RS.colour("fg"), fontSize: 12 }, extraCssText: "max-width:520px;white-space:normal;overflow-wrap:anywhere",
        formatter: (p) => more.tip(p) || "",
      } : undefined,
    };
  };

  const draw = (entry) => {
    if (!entry.node.isConnected || entry.node.clientWidth === 0) return;
    if (!entry.chart) {
      entry.chart = echarts.init(entry.node, null, { renderer: entry.more.canvas ? "canvas" : "svg" });
      if (entry.more.onClick) entry.chart.on("click", entry.more.onClick);
    }
    entry.chart.setOption(common(entry.options(), entry.more), true);
  };
  RS.drawCharts = () => {
    for (const entry of charts) draw(entry);
  };
  /** Redraws a chart after a change of its data or of a choice. */
  RS.redraw = (node) => {
    const entry = charts.find((e) => e.node === node);
    if (entry) draw(entry);
  };
  RS.startCharts = () => {
    RS.drawCharts();
    RS.onTheme(RS.drawCharts);
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth === width) return;
      width = innerWidth;
      for (const e of charts) if (e.chart) e.chart.resize();
      RS.drawCharts();
    });
    RS.onPrint(() => {
      for (const e of charts) if (e.chart) { e.chart.resize(); draw(e); e.chart.getZr().flush(); }
    });
  };
  RS.chartCount = () => charts.filter((e) => e.chart).length;
  RS.chartOf = (node) => charts.find((e) => e.node === node)?.chart;

  /** Adds a section to the page: title, a sentence, controls on the right, content. */
  RS.section = (id, title, note, bar, ...content) => {
    const heading = el("h2", { id: `${id}-title` }, title);
    const node = el("section", { id, "aria-labelledby": `${id}-title` },
      el("div", { class: "bar" }, heading, el("span", { class: "grow" }), ...(bar || [])),
      note ? el("p", { class: "note" }, note) : null, ...content);
    document.getElementById("main").append(node);
    const nav = document.getElementById("nav");
    nav.insertBefore(el("a", { href: `#${id}`, onclick: (e) => {
      e.preventDefault();
      node.scrollIntoView();
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    } }, title.replace(/,.*/, "")), nav.querySelector(".grow"));
    return node;
  };

  /** Returns a button that shows or hides the result of `make` (called once), and the element that contains it. */
  RS.onDemand = (label, make) => {
    const place = el("div", { hidden: true });
    const button = el("button", { type: "button", "aria-expanded": "false", onclick: () => {
      if (!place.firstChild) place.append(make());
      place.hidden = !place.hidden;
      button.setAttribute("aria-expanded", String(!place.hidden));
    } }, label);
    return { button, place };
  };

  /** Returns a select element for [value, label] pairs; the state stores its value under `key`. */
  RS.choice = (key, label, values, call) => {
    const select = el("select", { "aria-label": label, onchange: () => RS.state.set({ [key]: select.value }) },
      values.map(([value, text]) => el("option", { value }, text)));
    RS.state.on([key], () => {
      const now = RS.state.get(key, values[0][0]);
      select.value = values.some(([v]) => v === now) ? now : values[0][0];
      call(select.value);
    });
    return select;
  };

  RS.legend = (keys) => el("div", { class: "legend" }, RS.kinds.filter((k) => keys.includes(k.key))
    .map((k) => el("span", {}, el("span", { class: "key", style: `background:var(--${k.key})` }), k.label)));
})();
