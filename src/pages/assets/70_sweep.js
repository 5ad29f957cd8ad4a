// The page of a sweep: the best configuration, configurations without a significant difference from it, and
// products that vary.
(() => {
  const { el } = RS;

  /** Returns the interval marks of a horizontal dot plot. Its rows are {low, mean, high, colour, diamond}. */
  RS.intervalMarks = (rows) => ({
    type: "custom", data: rows.map((r, i) => [r.low ?? r.mean, i, r.high ?? r.mean, r.mean]), encode: { x: [0, 2], y: 1 },
    renderItem: (p, api) => {
      const r = rows[p.dataIndex];
      const at = (v) => api.coord([v, api.value(1)]);
      const y = at(r.mean)[1];
      const x = at(r.mean)[0];
      const children = [];
      if (Number.isFinite(r.low) && r.low !== null) children.push({ type: "line", shape: { x1: at(r.low)[0], x2: at(r.high)[0], y1: y, y2: y }, style: { stroke: r.colour, lineWidth: 2 } });
      children.push(r.diamond ? { type: "polygon", shape: { points: [[x - 6, y], [x, y - 6], [x + 6, y], [x, y + 6]] }, style: { fill: r.colour } }
        : { type: "circle", shape: { cx: x, cy: y, r: 5 }, style: { fill: r.colour } });
      return { type: "group", children };
    },
  });

  const byValue = (a, b) => (Number.isFinite(Number(a)) && Number.isFinite(Number(b)) ? Number(a) - Number(b) : a < b ? -1 : a > b ? 1 : 0);

  /** Returns a chart of a row's calls over time: {node, show(row as text)}; null when the page has no calls. */
  function gemmCalls(data, find) {
    const of = data.gemm_calls;
    if (!of) return null;
    const first = RS.array(of.first);
    const at = RS.times(of.at);
    const dur = RS.times(of.dur);
    const overlap = RS.times(of.overlap);
    if (!at.length) return null;
    let row = -1;
    const calls = () => (row < 0 ? [] : Array.from({ length: first[row + 1] - first[row] }, (_, i) => first[row] + i));
    const under = (i) => (dur[i] > 0 ? 100 * overlap[i] / dur[i] : 0);
    const chart = RS.chart(() => ({
      grid: { left: 60, right: 130, top: 16, bottom: 44 },
      xAxis: { type: "value", name: "ms since the first GPU event", scale: true, axisLabel: { formatter: RS.tick } },
      yAxis: { type: "value", name: "duration (\u00b5s)", scale: true, axisLabel: { formatter: RS.tick } },
      visualMap: { min: 0, max: 100, calculable: false, dimension: 2, right: 0, top: "middle", itemHeight: 100, text: ["under", "alone"], textStyle: { color: RS.colour("fg") }, inRange: { color: [RS.colour("compute"), RS.colour("exposed")] } },
      series: [{ type: "scatter", symbolSize: 7, data: calls().map((i) => [at[i] / 1e6, dur[i] / 1e3, under(i)]) }],
    }), { label: "calls of a matrix product over time", height: 260,
      tip: (p) => RS.rows(`call at ${RS.num(p.value[0], 6)} ms`, [["duration", `${RS.num(p.value[1], 4)} \u00b5s`], ["under collectives", RS.percent(p.value[2])]]) });
    const title = RS.el("h3", {});
    const note = RS.el("p", { class: "note" });
    const table = RS.el("div");
    const button = RS.el("button", { type: "button", "aria-expanded": "false", onclick: () => { fill(table.firstChild === null); } }, "calls as a table");
    function fill(open) {
      button.setAttribute("aria-expanded", String(open));
      if (!open) { table.replaceChildren(); return; }
      const list = calls();
      const column = (id, label, help, value) => ({ id, label, help, text: false, value: (r) => value(list[r]), show: (r) => RS.num(value(list[r]), 6) });
      table.replaceChildren(RS.grid({ name: "calls", rows: list.length, fit: true, columns: [
        column("at_ms", "at (ms)", "start, since the first GPU event", (i) => at[i] / 1e6), column("duration_us", "duration (\u00b5s)", "union of its kernels", (i) => dur[i] / 1e3),
        column("under_collectives_percent", "under collectives %", "of its duration", under)] }).node);
    }
    const node = RS.el("div", { id: "gemm-calls", hidden: true }, RS.el("div", { class: "bar" }, title, RS.el("span", { class: "grow" }), button), note, chart, table);
    const text = (id, r) => { const c = find(id); return c ? c.show(r) : ""; };
    return { node, show(value) {
      const r = Number(value);
      row = Number.isInteger(r) && r >= 0 && r + 1 < first.length && first[r + 1] > first[r] ? r : -1;
      node.hidden = row < 0;
      if (row < 0) return;
      const all = Number(find("count")?.value(row));
      title.textContent = RS.short(`${text("configuration", row)}, rank ${text("rank", row)}: ${text("op", row)} ${text("input_dims", row)}`, 120);
      note.textContent = `Calls over time; orange calls ran under collectives.${all > calls().length ? ` Only ${RS.exact(calls().length)} of ${RS.exact(all)} calls are shown: the shortest and the longest in each part of the time range.` : ""}`;
      RS.redraw(chart);
      fill(table.firstChild !== null);
    } };
  }

  RS.showSweep = (data) => {
    const configs = data.configurations;
    const cell = (m, c) => m.cells[c];
    const worked = (c) => data.measures.find((m) => m.id === "total").cells[c].ms > 0;
    const measures = data.measures.filter((m) => m.cells.some((c) => c.ms > 0));
    if (!measures.length) {
      RS.section("overview", "Overview", "No configuration has GPU work.", [], RS.findings(data.findings));
      return [];
    }
    const judged = (m) => m.cells.some((c) => c.best);
    const stateOf = (x) => (x.best ? "best" : x.told === true ? "told" : x.told === false ? "alike" : "unknown");
    const words = { best: "best", told: "significantly longer", alike: "no significant difference from the best", unknown: "not judged" };
    let now = measures[0];

    // ---- overview: findings, best by measure
    const best = (m) => {
      const order = [...configs.keys()].filter(worked).sort((a, b) => cell(m, a).ms - cell(m, b).ms);
      const first = order.find((c) => cell(m, c).best) ?? order[0];
      const alike = judged(m) ? order.filter((c) => cell(m, c).told === false) : [];
      return { first, alike };
    };
    const rows = measures.map((m) => {
      const b = best(m);
      const alike = b.alike.length > 2 ? `${b.alike.length} others` : b.alike.map((c) => configs[c].label).join(", ") || "none";
      return el("tr", {}, el("td", {}, m.label), el("td", {}, configs[b.first].label), el("td", { class: "n" }, `${RS.num(cell(m, b.first).ms, 4)} ms`),
        el("td", { class: "sub" }, judged(m) ? alike : "not judged"));
    });
    RS.section("overview", "Overview", null, [], el("div", { class: "two" },
      el("div", {}, data.findings.length ? RS.findings(data.findings) : el("p", { class: "sub" }, "No findings beyond the noise.")),
      el("div", {}, el("h3", {}, "Shortest time per step, by measure"), el("table", { class: "shares" },
        el("thead", {}, el("tr", {}, [["measure"], ["shortest"], ["time", "n"], ["not significantly longer", "sub"]].map(([name, kind]) => el("th", { class: kind || "" }, name)))), el("tbody", {}, rows)))));

    // ---- surface
    const names = [...new Set(configs.flatMap((c) => c.parameters.map((p) => p.name)))];
    const valueOf = (c, name) => configs[c].parameters.find((p) => p.name === name)?.value ?? "";
    const varied = names.filter((n) => new Set(configs.map((_, c) => valueOf(c, n))).size > 1);
    const surface = el("div");
    const aboutCell = (c) => {
      const x = cell(now, c);
      return RS.rows(configs[c].label, [[now.label, `${RS.num(x.ms, 4)} ms`], ["interval", x.low !== undefined ? `${RS.num(x.low, 4)} to ${RS.num(x.high, 4)} ms` : ""], ["samples", `${x.steps} steps`],
        ["over the best", x.worse !== undefined ? `${RS.num(x.worse)} ms (${RS.num(x.worse_low)} to ${RS.num(x.worse_high)})` : ""], ["", words[stateOf(x)]]]);
    };
    const least = () => Math.min(...now.cells.map((x) => x.ms).filter((v) => v > 0));
    const over = (c) => 100 * (cell(now, c).ms / least() - 1);
    const figure = (c) => (!worked(c) ? "no GPU work" : cell(now, c).ms > 0 ? `${over(c) >= 0 ? "+" : ""}${over(c).toFixed(2)} %` : "none");
    const tone = (c) => {
      const x = cell(now, c);
      if (x.best) return "background:var(--accent);color:var(--bg)";
      if (x.told !== true) return "background:var(--panel);color:var(--soft)";
      const most = Math.max(...configs.map((_, k) => (cell(now, k).told ? over(k) : 0)), 0.01);
      return `background:color-mix(in srgb, var(--exposed) ${Math.round(25 + 65 * over(c) / most)}%, var(--bg))`;
    };
    const button = (c) => el("button", { type: "button", class: "cell", style: tone(c), "aria-label": `${configs[c].label}: ${RS.num(cell(now, c).ms, 4)} ms, ${words[stateOf(cell(now, c))]}`,
      onpointermove: (e) => RS.showTip(aboutCell(c), e.clientX, e.clientY), onpointerleave: RS.hideTip, onblur: RS.hideTip,
      onfocus: (e) => { const r = e.target.getBoundingClientRect(); RS.showTip(aboutCell(c), r.left, r.bottom - 12); },
      onclick: () => RS.state.set({ c: RS.state.get("c") === configs[c].label ? "" : configs[c].label }) },
    stateOf(cell(now, c)) === "best" ? `best ${RS.num(cell(now, c).ms, 4)} ms` : figure(c));
    const grid2 = varied.length === 2 && new Set(configs.map((_, c) => `${valueOf(c, varied[0])}\n${valueOf(c, varied[1])}`)).size === configs.length;
    function drawSurface() {
      if (grid2) {
        const [ya, xa] = varied;
        const xs = [...new Set(configs.map((_, c) => valueOf(c, xa)))].sort(byValue);
        const ys = [...new Set(configs.map((_, c) => valueOf(c, ya)))].sort(byValue);
        const find = (x, y) => configs.findIndex((_, c) => valueOf(c, xa) === x && valueOf(c, ya) === y);
        surface.replaceChildren(el("div", { class: "surface-box" }, el("table", { class: "surface" },
          el("caption", { class: "visually-hidden" }, `${now.label} by ${ya} and ${xa}`),
          el("thead", {}, el("tr", {}, el("th", { scope: "col" }, `${ya} \\ ${xa}`), xs.map((x) => el("th", { scope: "col" }, x)))),
          el("tbody", {}, ys.map((y) => el("tr", {}, el("th", { scope: "row" }, y), xs.map((x) => { const c = find(x, y); return el("td", {}, c < 0 ? "" : button(c)); })))))));
      } else {
        const order = [...configs.keys()].sort((a, b) => worked(b) - worked(a) || cell(now, a).ms - cell(now, b).ms);
        surface.replaceChildren(el("div", { class: "surface-list" }, order.map((c) => el("div", {}, button(c), el("span", {}, configs[c].label)))));
      }
    }

    // ---- dots with intervals
    const sorted = () => [...configs.keys()].filter(worked).sort((a, b) => cell(now, a).ms - cell(now, b).ms);
    const colourOf = (c) => { const s = stateOf(cell(now, c)); return RS.colour(s === "best" ? "accent" : s === "told" ? "exposed" : "grey"); };
    const dots = RS.chart(() => {
      const order = sorted();
      return {
        grid: { left: innerWidth < 700 ? 110 : 200, right: 24, top: 8, bottom: 44 },
        xAxis: { type: "value", scale: true, name: `${now.label} (ms per step)`, axisLabel: { formatter: RS.tick } },
        yAxis: { type: "category", inverse: true, data: order.map((c) => configs[c].label), axisTick: { show: false }, axisLabel: { formatter: (t) => RS.short(t, innerWidth < 700 ? 16 : 30) } },
        series: [RS.intervalMarks(order.map((c) => ({ low: cell(now, c).low, mean: cell(now, c).ms, high: cell(now, c).high, colour: colourOf(c), diamond: cell(now, c).told === true })))],
      };
    }, { label: "configurations by the chosen time, with intervals", height: Math.max(140, Math.min(900, configs.length * 26 + 60)), tip: (p) => aboutCell(sorted()[p.dataIndex]),
      onClick: (p) => RS.state.set({ c: configs[sorted()[p.dataIndex]].label }) });
    RS.section("surface", "Configurations, against the best", "Blue: the best. Orange: significantly longer; darker is longer. Grey: no significant difference from the best. Dots: mean of the steps with its 95 % interval.",
      [RS.choice("m", "which time", measures.map((m) => [m.id, m.label]), (id) => { now = measures.find((m) => m.id === id) || measures[0]; drawSurface(); RS.redraw(dots); })],
      surface, dots, data.table_configurations ? (() => { const t = RS.onDemand("as a table", () => RS.grid({ name: "configurations", columns: RS.columnsOf(data.table_configurations), rows: data.table_configurations.rows, fit: true }).node); return el("div", {}, t.button, t.place); })() : null);

    // ---- trade-off
    const of = (id) => data.measures.find((m) => m.id === id);
    const compute = of("compute");
    const exposed = of("exposed");
    if (exposed.cells.some((x) => x.ms > 0)) {
      const total = of("total");
      const chart = RS.chart(() => ({
        grid: { left: 60, right: 24, top: 16, bottom: 44 },
        xAxis: { type: "value", scale: true, name: "computation (ms per step)", axisLabel: { formatter: RS.tick } },
        yAxis: { type: "value", scale: true, name: "exposed communication (ms per step)", axisLabel: { formatter: RS.tick } },
        series: [
          { type: "custom", silent: true, data: configs.map((_, c) => [compute.cells[c].ms, exposed.cells[c].ms, compute.cells[c].low ?? compute.cells[c].ms, compute.cells[c].high ?? compute.cells[c].ms, exposed.cells[c].low ?? exposed.cells[c].ms, exposed.cells[c].high ?? exposed.cells[c].ms]),
            encode: { x: [0, 2, 3], y: [1, 4, 5] },
            renderItem: (_, api) => { const style = { stroke: RS.colour("grey"), lineWidth: 1 }; const a = (x, y) => api.coord([api.value(x), api.value(y)]);
              const line = (p, q) => ({ type: "line", shape: { x1: p[0], y1: p[1], x2: q[0], y2: q[1] }, style });
              return { type: "group", children: [line(a(2, 1), a(3, 1)), line(a(0, 4), a(0, 5))] }; } },
          { type: "scatter", symbolSize: 12, data: configs.map((c, i) => ({ value: [compute.cells[i].ms, exposed.cells[i].ms], itemStyle: { color: total.cells[i].best ? RS.colour("accent") : total.cells[i].told === true ? RS.colour("exposed") : RS.colour("grey") } })),
            labelLayout: { hideOverlap: true }, label: { show: configs.length <= 16 && innerWidth >= 700, position: "top", color: RS.colour("fg"), formatter: (p) => configs[p.dataIndex].label } }],
      }), { label: "exposed communication against computation", height: 380, tip: (p) => RS.rows(configs[p.dataIndex].label, [["computation", `${RS.num(compute.cells[p.dataIndex].ms, 4)} ms`], ["exposed", `${RS.num(exposed.cells[p.dataIndex].ms, 4)} ms`], ["step", `${RS.num(total.cells[p.dataIndex].ms, 4)} ms`]]),
        onClick: (p) => RS.state.set({ c: configs[p.dataIndex].label }) });
      RS.section("tradeoff", "Trade-off, exposed communication against computation", "A dot is a configuration with its intervals; down and left is better. Blue: shortest steps. Grey: no significant difference from it.", [], chart);
    }

    // ---- bandwidth by size, or by a varied parameter
    const points = (data.bandwidths || []).filter((b) => b.mib > 0 && b.bus > 0);
    if (points.length) {
      const kinds = [...new Set(points.map((b) => `${b.name} ${b.dtype}`.trim()))];
      const axes = [["", "by size"], ...varied.map((n) => [n, `by ${n}`])];
      let kind = kinds[0];
      let by = "";
      const sizeOf = (b) => `${RS.num(b.mib)} MiB, ${b.group}`;
      const unique = (values) => [...new Set(values)];
      const marks = () => {
        const mine = points.filter((b) => `${b.name} ${b.dtype}`.trim() === kind);
        if (by === "") return { points: mine, x: (b) => b.mib, xAxis: { type: "log", name: "size (MiB, log)", axisLabel: { formatter: RS.tick } },
          series: unique(mine.map((b) => configs[b.configuration].label)), seriesOf: (b) => configs[b.configuration].label };
        const values = unique(configs.map((_, c) => valueOf(c, by))).sort(byValue);
        return { points: mine, x: (b) => values.indexOf(valueOf(b.configuration, by)), xAxis: { type: "category", data: values, name: by },
          series: unique([...mine].sort((a, b) => a.mib - b.mib).map(sizeOf)), seriesOf: sizeOf };
      };
      const chart = RS.bandwidthChart(marks, "bus bandwidth of the configurations", (b) => [["configuration", configs[b.configuration].label]],
        (p) => { if (p.data?.of) RS.state.set({ c: configs[p.data.of.configuration].label }); });
      RS.section("bandwidth", "Bandwidth, by size and parameter", "A mark: mean over the collectives of one size and group in a configuration, with its 95 % interval.",
        [RS.choice("bk", "which collective", kinds.map((k) => [k, k]), (k) => { kind = k; RS.redraw(chart); }), RS.choice("bx", "against what", axes, (x) => { by = x; RS.redraw(chart); })], chart);
    }

    // ---- products that vary
    if (data.gemms?.rows) {
      const columns = RS.columnsOf(data.gemms);
      const find = (id) => columns.find((c) => c.id === id);
      const range = find("time_diff_us");
      const share = find("share_of_gemm_time_pct");
      const kernel = find("kernel_name");
      const calls = gemmCalls(data, find);
      const show = (r) => RS.state.set({ p: String(r) });
      const grid = RS.grid({ name: "matrix products that vary most", columns, rows: data.gemms.rows, key: "g", selected: calls ? (r) => RS.state.get("p", "0") === String(r) : null, onRow: calls ? show : null });
      let chart = null;
      if (range && share && kernel) {
        chart = RS.chart(() => ({
          xAxis: { type: "value", name: "share of the GEMM time (%)", scale: true, axisLabel: { formatter: RS.tick } }, yAxis: { type: "value", name: "longest - shortest call (\u00b5s)", axisLabel: { formatter: RS.tick } },
          series: [{ type: "scatter", symbolSize: 9, itemStyle: { color: RS.colour("accent"), opacity: 0.6 }, data: Array.from({ length: data.gemms.rows }, (_, r) => [share.value(r), range.value(r)]) }],
        }), { label: "matrix products: spread against share", height: 320, tip: (p) => RS.rows(kernel.value(p.dataIndex), columns.filter((c) => !c.text).slice(0, 10).map((c) => [c.label, c.show(p.dataIndex)])),
          onClick: (p) => RS.state.set({ g: kernel.value(p.dataIndex), p: calls ? String(p.dataIndex) : "" }) });
      }
      RS.section("gemms", "Matrix products that vary", "Spread of the calls against their share of GEMM time; the top right matters most. A click on a dot or row shows the calls over time; a dot also filters the rows.", [], chart, calls?.node, grid.node);
      if (calls) RS.state.on(["p"], () => { calls.show(RS.state.get("p", "0")); grid.refresh(); });
    }
    if (data.collectives?.rows) RS.section("collectives", "Collectives of all configurations", null, [], RS.grid({ name: "collectives", columns: RS.columnsOf(data.collectives), rows: data.collectives.rows, fit: true }).node);
    if (data.table_ranks?.rows) {
      const grid = RS.grid({ name: "ranks", columns: RS.columnsOf(data.table_ranks), rows: data.table_ranks.rows, fit: true, key: "c" });
      RS.section("ranks", "Ranks", "A click on a configuration above filters these rows.", [], grid.node);
    }
    return [
      ["best, orange, grey", "Configurations are ranked by their steps; intervals are Welch's at a level corrected for all pairs. Grey: the interval of the difference to the best contains 0."],
      ["per step", "Mean over the ranks of one profiler step; a sample is a step."],
      ["columns", "The tooltip of a table header explains its column; rankscope columns lists all columns."],
    ];
  };
})();
