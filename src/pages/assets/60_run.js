// The page of one trace, or of the ranks of a run.
(() => {
  const { el } = RS;

  // ---- shares of the time
  function sharesSection(data) {
    const ms = data.times_ms;
    const total = data.overview.total_ms;
    const many = data.overview.ranks > 1;
    const parts = [
      ["compute", "computation", ms.computation_time, ""],
      ["exposed", "communication, exposed", ms.exposed_comm_time, "no computation overlaps it"],
      ["copy", "copies, exposed", ms.exposed_memcpy_time, "no other GPU work overlaps them"],
      ...data.idle.filter((i) => i.ms > 0).map((i) => [`idle-${i.cause}`, `idle: ${i.cause}`, i.ms, i.help]),
    ].filter((p) => p[2] > 0);
    const strip = el("div", { class: "strip", role: "img", "aria-label":
      `time of the GPU: ${parts.map((p) => `${p[1]} ${RS.percent(100 * p[2] / total)}`).join(", ")}` },
    parts.map(([kind, label, value, help], i) => el("div", {
      style: `width:${100 * value / total}%;background:var(--${kind});${i > 0 ? "border-left:1px solid var(--bg)" : ""}`,
      onpointermove: (e) => RS.showTip(RS.rows(label, [["time", `${RS.num(value)} ms`], ["share", RS.percent(100 * value / total)], ["", help]]), e.clientX, e.clientY),
      onpointerleave: RS.hideTip,
    })));
    const hidden = ms.total_comm_time - ms.exposed_comm_time;
    const shares = el("table", { class: "shares" }, el("tbody", {},
      parts.map(([kind, label, value, help]) => el("tr", {},
        el("td", {}, el("span", { class: "key", style: `background:var(--${kind})` }), label),
        el("td", { class: "n", title: `${value} ms` }, `${RS.num(value)} ms`),
        el("td", { class: "n" }, RS.percent(100 * value / total)), el("td", { class: "sub" }, help))),
      hidden > 0 ? el("tr", {}, el("td", {}, el("span", { class: "key", style: "background:var(--hidden)" }), "communication, hidden"),
        el("td", { class: "n", title: `${hidden} ms` }, `${RS.num(hidden)} ms`),
        el("td", { class: "n" }, RS.percent(100 * hidden / total)), el("td", { class: "sub" }, "overlapped by computation; not in the bar")) : null));
    const findings = el("div", {}, data.findings.length ? RS.findings(data.findings)
      : el("p", { class: "sub" }, "No findings beyond the noise."),
    data.next.length ? el("h3", {}, "Next") : null,
    el("ul", { class: "next" }, data.next.map((n) => el("li", {}, el("div", {}, n.why), el("code", {}, n.command), RS.copyButton(n.command)))));
    RS.section("overview", "Overview", null, [], el("div", { class: "two" },
      el("div", {}, el("p", {}, el("span", { class: "big" }, `${RS.num(total)} ms`),
        el("span", { class: "sub" }, many ? " GPU timeline, mean over the ranks" : " from the first to the last GPU work")), strip, shares), findings));
  }

  /** Returns a function that zooms to the place of a finding; null when its rank is not on the page. */
  RS.showPlace = (place) => {
    const rank = RS.data.ranks?.find((r) => r.rank === place.rank);
    if (!rank) return null;
    return () => {
      const start = place.start - rank.first + rank.at;
      const around = (place.end - place.start) / 4;
      const change = { t: `${Math.round(Math.max(0, start - around))},${Math.round(start + place.end - place.start + around)}` };
      if (RS.data.ranks.length > 1) change.r = `${Math.max(0, place.rank - 1)}-${place.rank + 1}`;
      RS.state.set(change);
      document.getElementById("timeline")?.scrollIntoView();
    };
  };

  // ---- timeline
  function hoverOfOperators(data) {
    if (!data.operators) return null;
    const by = Object.fromEntries(RS.columnsOf(data.operators).map((c) => [c.id, c]));
    return (row, ns) => {
      const flops = by.flops.value(row);
      const one = by.one_kernel.value(row) === 1;
      const rate = one ? flops / ns / 1e3 : by.tflops.value(row);
      const peak = (data.board?.peaks || []).find((p) => p.spec === by.spec.value(row));
      return [
        ["rate", Number.isFinite(rate) && rate > 0 ? `${RS.num(rate)} TFLOPS${one ? "" : " (mean of its calls)"}` : ""],
        ["of peak", Number.isFinite(rate) && rate > 0 && peak ? `${RS.percent(100 * rate / peak.tflops)} of ${RS.num(peak.tflops)} TFLOPS` : ""],
        ["of roofline", Number.isFinite(by.roofline_percent.value(row)) ? `${RS.percent(by.roofline_percent.value(row))} (mean of its calls)` : ""],
      ];
    };
  }

  /** Returns the collectives joined over ranks, with their members, sorted by start. */
  function matchedOf(data) {
    if (!data.matched) return null;
    const m = data.matched;
    const members = RS.array(m.members);
    const out = { group: RS.array(m.group), bus: RS.array(m.bus), rank: RS.array(m.rank), start: RS.times(m.start) };
    out.first = new Uint32Array(members.length + 1);
    for (let i = 0; i < members.length; i++) out.first[i + 1] = out.first[i] + members[i];
    const begin = new Float64Array(members.length);
    const last = new Float64Array(members.length);
    for (let c = 0; c < members.length; c++) {
      begin[c] = Infinity;
      for (let k = out.first[c]; k < out.first[c + 1]; k++) { begin[c] = Math.min(begin[c], out.start[k]); last[c] = Math.max(last[c], out.start[k]); }
    }
    const order = [...begin.keys()].sort((a, b) => begin[a] - begin[b]);
    out.rankOf = (k) => data.ranks[out.rank[k]].rank;
    out.each = (t0, t1, call) => { for (const c of order) { if (begin[c] > t1) break; if (last[c] >= t0) call(c); } };
    out.inView = (t0, t1) => { let n = 0; for (const c of order) { if (begin[c] > t1) break; if (last[c] >= t0) n++; } return n; };
    const byRank = new Map();
    for (let c = 0; c < members.length; c++) for (let k = out.first[c]; k < out.first[c + 1]; k++) {
      const r = out.rankOf(k);
      if (!byRank.has(r)) byRank.set(r, []);
      byRank.get(r).push([out.start[k], c, k]);
    }
    for (const list of byRank.values()) list.sort((a, b) => a[0] - b[0]);
    out.about = (rank, start) => {
      const list = byRank.get(rank) || [];
      let low = 0;
      let high = list.length;
      while (low < high) { const mid = (low + high) >> 1; if (list[mid][0] < start) low = mid + 1; else high = mid; }
      const far = (at) => at >= 0 && at < list.length ? Math.abs(list[at][0] - start) : Infinity;
      if (far(low - 1) < far(low)) low--;
      if (far(low) > 2000) return [];
      const c = list[low][1];
      const ks = [];
      for (let k = out.first[c]; k < out.first[c + 1]; k++) ks.push(k);
      ks.sort((a, b) => out.start[a] - out.start[b]);
      const lastIn = ks[ks.length - 1];
      const waits = ks.map((k) => `${out.rankOf(k)}: ${RS.time(out.start[lastIn] - out.start[k])}`);
      return [["group", `${RS.string(out.group[c])}, ${ks.length} ranks`], ["bus", Number.isFinite(out.bus[c]) ? `${RS.num(out.bus[c])} GB/s` : ""],
        ["last to start", `rank ${out.rankOf(lastIn)}`], ["waits by rank", waits.length > 16 ? `${waits.slice(0, 16).join(", ")} ...` : waits.join(", ")]];
    };
    return out;
  }

  function timelineSection(data) {
    const ranks = RS.lanesOf(data);
    if (!ranks.some((r) => r.lanes.length)) return null;
    const many = ranks.length > 1;
    const path = RS.pathOf(data);
    const timeline = RS.timeline(ranks, { operators: hoverOfOperators(data), matched: matchedOf(data), path });
    const place = el("span", { class: "sub", role: "status" });
    const say = () => { place.textContent = `${timeline.at(timeline.view.t0)} to ${timeline.at(timeline.view.t1)}`; };
    timeline.onMove(say);
    say();
    const clear = el("button", { type: "button", hidden: true, onclick: () => RS.state.set({ k: "" }) }, "unmark");
    const marked = el("span", { class: "sub" });
    RS.state.on(["k"], () => {
      const k = RS.state.get("k");
      clear.hidden = !k;
      marked.textContent = k ? `marked: ${RS.short(k, 48)}` : "";
    });
    const bar = [marked, clear, place,
      el("button", { type: "button", "aria-label": "zoom in", onclick: () => timeline.zoomBy(0.5) }, "+"),
      el("button", { type: "button", "aria-label": "zoom out", onclick: () => timeline.zoomBy(2) }, "\u2212"),
      el("button", { type: "button", onclick: () => timeline.showAll() }, "all")];
    if (many) {
      const input = el("input", { "aria-label": "ranks to show, for example 0-3, 7", size: 10, title: "ranks to show, for example 0-3, 7", onchange: () => RS.state.set({ r: input.value }) });
      const first = ranks.slice(0, Math.min(8, ranks.length)).map((r) => r.rank);
      const chosen = (text) => {
        const out = [];
        for (const part of text.split(",")) {
          const [a, b] = part.split("-").map((n) => Number.parseInt(n, 10));
          if (Number.isFinite(a)) for (const r of ranks) if (r.rank >= a && r.rank <= (Number.isFinite(b) ? b : a)) out.push(r.rank);
        }
        return out.length ? out.slice(0, 64) : first;
      };
      RS.state.on(["r"], () => {
        const list = chosen(RS.state.get("r"));
        input.value = RS.state.get("r") || (list.length > 1 ? `${list[0]}-${list[list.length - 1]}` : String(list[0]));
        timeline.setRanks(list);
      });
      bar.unshift(el("label", { class: "sub" }, "ranks ", input));
    }
    const kept = ranks.reduce((n, r) => n + r.lanes.reduce((m, l) => m + l.n, 0), 0);
    const all = ranks.reduce((n, r) => n + r.lanes.reduce((m, l) => m + l.inTrace, 0), 0);
    const table = RS.onDemand("events in view as a table", () => {
      const holder = el("div");
      const fill = () => {
        const list = timeline.eventsInView(10000);
        const text = (of) => ({ text: true, value: of, show: of });
        const number = (of) => ({ text: false, value: of, show: (r) => RS.num(of(r)) });
        const at = (r) => list[r];
        holder.replaceChildren(RS.grid({
          name: "events in view, longest first", rows: list.length, onRow: (r) => RS.state.set({ k: RS.string(at(r)[0].label[at(r)[1]]) }),
          columns: [
            { id: "name", label: "name", help: "kernel, copy or fill", width: 360, ...text((r) => RS.string(at(r)[0].label[at(r)[1]])) },
            { id: "rank", label: "rank", help: "", width: 64, text: false, value: (r) => at(r)[0].rank, show: (r) => String(at(r)[0].rank) },
            { id: "lane", label: "stream", help: "", width: 96, ...text((r) => at(r)[0].name) },
            { id: "start", label: "start (\u00b5s)", help: "since the first GPU work", ...number((r) => at(r)[0].start[at(r)[1]] / 1e3) },
            { id: "dur", label: "duration (\u00b5s)", help: "", ...number((r) => at(r)[0].dur[at(r)[1]] / 1e3) },
            { id: "op", label: "operator", help: "the operator that launched it", ...text((r) => RS.string(at(r)[0].op[at(r)[1]])) },
            { id: "about", label: "shapes or size", help: "", ...text((r) => RS.string(at(r)[0].about[at(r)[1]])) },
          ],
        }).node);
      };
      fill();
      timeline.onMove(() => { clearTimeout(holder.later); holder.later = setTimeout(fill, 300); });
      return holder;
    });
    RS.section("timeline", "Timeline", kept < all
      ? `Zoomed out, the timeline shows the exact share of each kind of work. Zoomed in, it shows the ${RS.exact(kept)} longest of ${RS.exact(all)} events, and the others in pale colours. The wheel or a pinch zooms (Ctrl and wheel if the timeline is higher than the window).`
      : `All ${RS.exact(all)} events of the GPU. The wheel or a pinch zooms (Ctrl and wheel if the timeline is higher than the window), dragging moves the timeline, and a click on a kernel marks all its calls.`,
    bar, timeline.node, el("div", { class: "bar" }, RS.legend(["compute", "exposed", "hidden", "copy", ...(path ? ["idle-host", "idle"] : [])]), el("span", { class: "grow" }), table.button), table.place);
    return timeline;
  }

  // ---- operators and kernels as dots
  /** Rounds a value up or down to one significant digit. */
  const digit = (v, up) => { const ten = 10 ** Math.floor(Math.log10(v)); return (up ? Math.ceil(v / ten) : Math.floor(v / ten)) * ten; };
  const below = (v) => Number(digit(v * 0.99, false).toPrecision(1));
  const above = (v) => Number(digit(v * 1.01, true).toPrecision(2));

  function dotsSection(data, timeline) {
    const sources = {};
    if (data.operators?.rows) {
      const by = Object.fromEntries(RS.columnsOf(data.operators).map((c) => [c.id, c]));
      sources.operators = { rows: data.operators.rows, name: (r) => by.name.value(r), more: (r) => by.shapes.value(r), share: by.percent.value, count: by.calls.value,
        low: by.min_us.value, high: by.max_us.value, dot: by.median_us.value, box: null };
    }
    if (data.kernels?.rows) {
      const by = Object.fromEntries(RS.columnsOf(data.kernels).map((c) => [c.id, c]));
      sources.kernels = { rows: data.kernels.rows, name: (r) => by.name.value(r), more: () => "", share: by.percent.value, count: by.count.value,
        low: by.min_us.value, high: by.max_us.value, dot: by.median_us.value, box: [by.p25_us.value, by.p75_us.value] };
    }
    if (!Object.keys(sources).length) return;
    let source = null;
    const rows = () => Math.min(15, source.rows);
    const option = () => {
      const n = rows();
      const items = [...Array(n).keys()];
      const narrow = innerWidth < 700;
      const left = narrow ? 120 : 300;
      return {
        grid: { left, right: narrow ? 60 : 90, top: 8, bottom: 44 },
        xAxis: { type: "log", min: below(Math.min(...items.map((r) => Math.max(1e-3, source.low(r))))), max: above(Math.max(...items.map(source.high))), name: "time of a call (\u00b5s, log)", axisLabel: { formatter: RS.tick } },
        yAxis: [{ type: "category", inverse: true, data: items.map((r) => `${source.name(r)} ${source.more(r)}`.trim()), axisTick: { show: false },
          axisLabel: { interval: 0, width: left - 12, overflow: "truncate", formatter: (t) => RS.short(t, narrow ? 18 : 46) } },
        { type: "category", inverse: true, position: "right", data: items.map((r) => RS.percent(source.share(r))), axisTick: { show: false }, axisLine: { show: false }, axisLabel: { interval: 0 } }],
        series: [{
          type: "custom", data: items.map((r) => [Math.max(1e-3, source.low(r)), r, Math.max(1e-3, source.high(r)), Math.max(1e-3, source.dot(r)),
            source.box ? Math.max(1e-3, source.box[0](r)) : NaN, source.box ? Math.max(1e-3, source.box[1](r)) : NaN, source.share(r)]),
          encode: { x: [0, 2], y: 1 },
          renderItem: (_, api) => {
            const at = (i) => api.coord([api.value(i), api.value(1)]);
            const [a, y] = at(0);
            const [b] = at(2);
            const [c] = at(3);
            const children = [{ type: "line", shape: { x1: a, y1: y, x2: b, y2: y }, style: { stroke: RS.colour("grey"), lineWidth: 1.5 } }];
            if (source.box) children.push({ type: "rect", shape: { x: at(4)[0], y: y - 4, width: Math.max(1, at(5)[0] - at(4)[0]), height: 8 }, style: { fill: RS.colour("grey"), opacity: 0.45 } });
            children.push({ type: "circle", shape: { cx: c, cy: y, r: 3 + Math.sqrt(api.value(6)) }, style: { fill: RS.colour("accent"), opacity: 0.9 } });
            return { type: "group", children };
          },
        }],
      };
    };
    const chart = RS.chart(option, {
      label: "the operators or kernels with most time, ranked: range, middle half and median of a call's time, and share", height: 420,
      tip: (p) => { const r = p.dataIndex; return RS.rows(source.name(r), [["shapes", source.more(r)], ["share", RS.percent(source.share(r))], ["calls", RS.exact(source.count(r))],
        ["median", `${RS.num(source.dot(r))} \u00b5s`], ["shortest", `${RS.num(source.low(r))} \u00b5s`], ["longest", `${RS.num(source.high(r))} \u00b5s`]]); },
      onClick: (p) => { const name = source.name(p.dataIndex); RS.state.set(source === sources.kernels ? { k: name } : { o: name }); },
    });
    const table = data.operators?.rows ? RS.onDemand("all operators as a table", () => {
      const columns = RS.columnsOf(data.operators).filter((c) => c.id !== "one_kernel");
      columns[0].width = 240;
      const grid = markingGrid({ name: "operators", columns, rows: data.operators.rows, key: "o" }, columns[0], timeline);
      return el("div", {}, el("div", { class: "bar" }, ...grid.bar), grid.node);
    }) : null;
    const bar = [RS.choice("what", "what to rank", Object.keys(sources).map((k) => [k, k]), (now) => { source = sources[now]; RS.redraw(chart); })];
    if (table) bar.push(table.button);
    RS.section("operators", "Where the time goes, longest first", "Line: shortest to longest call. Dot: median; its size is the share of kernel time (at the right). Box (kernels): the middle half of the calls.", bar, chart, table ? table.place : null);
    if (table) RS.state.on(["o"], () => { if (RS.state.get("o") && table.place.hidden) table.button.click(); });
  }

  // ---- roofline
  function rooflineSection(data) {
    if (!data.operators?.rows) return;
    const by = Object.fromEntries(RS.columnsOf(data.operators).map((c) => [c.id, c]));
    const points = [];
    for (let r = 0; r < data.operators.rows; r++) {
      const flops = by.flops.value(r);
      const bytes = by.bytes.value(r);
      const rate = by.tflops.value(r);
      if (flops > 0 && bytes > 0 && rate > 0) points.push([flops / bytes, rate, r]);
    }
    const board = data.board;
    if (!points.length || (!board && points.length < 5)) return; // without a roof, a few dots have no meaning
    const specs = [...new Set(points.map((p) => by.spec.value(p[2])))];
    const known = board ? board.peaks.map((p) => p.spec) : [];
    // the rate of 16-bit vector work is at least that of 32 bits (model/gpu_arch.h)
    const bounds = specs.map((spec) => (!known.includes(spec) && /^vector_b?f/.test(spec) ? "vector_fp32" : spec));
    const peaks = board ? board.peaks.filter((p) => bounds.includes(p.spec)) : [];
    const shapes = ["circle", "triangle", "rect", "diamond", "emptyCircle", "emptyRect"];
    // points far below the roof would push the others to the upper edge
    const roof = peaks.length ? Math.max(...peaks.map((p) => p.tflops)) : Math.max(...points.map((p) => p[1]));
    const high = points.filter((p) => p[1] >= roof / 1000);
    const low = high.length ? points.length - high.length : 0;
    if (low) points.splice(0, points.length, ...high);
    const option = () => {
      const xs = points.map((p) => p[0]);
      const ys = points.map((p) => p[1]);
      const x0 = 10 ** Math.floor(Math.log10(Math.min(...xs)));
      let x1 = 10 ** Math.ceil(Math.log10(Math.max(...xs) * 1.01));
      const bandwidth = board ? board.gbps / 1e3 : 0; // TB/s
      if (bandwidth) x1 = Math.max(x1, 10 ** Math.ceil(Math.log10(roof / bandwidth)));
      // each label is at the right end of its roof; labels that would overlap are placed below each other
      const series = [];
      for (const p of peaks) {
        const ridge = p.tflops / bandwidth;
        const label = innerWidth < 700 ? { show: false }
          : { show: true, formatter: `${p.spec} ${RS.num(p.tflops)} TFLOPS, ridge ${RS.num(ridge)}`, color: RS.colour("soft"), position: "insideTopRight", align: "right", distance: 4 };
        series.push({
          type: "line", silent: true, symbol: "circle", symbolSize: (_, of) => (of.dataIndex === 1 ? 7 : 0), showAllSymbol: true, labelLayout: { moveOverlap: "shiftY" },
          itemStyle: { color: RS.colour("soft") }, lineStyle: { color: RS.colour("soft"), width: 1.5 },
          data: [[x0, x0 * bandwidth], [ridge, p.tflops], { value: [x1, p.tflops], label }],
        });
      }
      specs.forEach((spec, i) => series.push({
        name: spec || "unknown peak", type: "scatter", symbol: shapes[i % shapes.length],
        data: points.filter((p) => by.spec.value(p[2]) === spec).map((p) => ({ value: p, symbolSize: 6 + 4 * Math.sqrt(by.percent.value(p[2])) })),
        itemStyle: { color: RS.colour("accent"), opacity: 0.65, borderColor: RS.colour("bg") },
      }));
      return {
        legend: specs.length > 1 ? { top: 0, right: 0, textStyle: { color: RS.colour("fg") }, data: specs.map((s) => s || "unknown peak") } : undefined,
        grid: { left: 60, right: 24, top: 36, bottom: 44 },
        xAxis: { type: "log", min: x0, max: x1, name: "FLOP per byte (log)", axisLabel: { formatter: RS.tick } },
        yAxis: { type: "log", name: "TFLOPS (log)", axisLabel: { formatter: RS.tick },
          min: 10 ** Math.floor(Math.log10(Math.min(...ys))), max: 10 ** Math.ceil(Math.log10(Math.max(roof, ...ys) * 1.05)) },
        series,
      };
    };
    const chart = RS.chart(option, {
      label: `roofline: ${points.length} operators by FLOP per byte and rate`, height: 420,
      tip: (p) => { if (p.seriesType !== "scatter") return ""; const r = p.value[2]; return RS.rows(by.name.value(r), [["shapes", by.shapes.value(r)], ["rate", `${RS.num(p.value[1])} TFLOPS`],
        ["intensity", `${RS.num(p.value[0])} FLOP per byte`], ["of roofline", RS.percent(by.roofline_percent.value(r))], ["bound by", by.bound.value(r)], ["share", RS.percent(by.percent.value(r))], ["peak", by.spec.value(r)]]); },
      onClick: (p) => { if (p.seriesType === "scatter") RS.state.set({ o: by.name.value(p.value[2]) }); },
    });
    const below = low ? ` ${low} operators below 0.1 % of the highest ${board ? "peak" : "rate"} are left out.` : "";
    RS.section("roofline", "Roofline", (board ? `${board.name}: ${RS.num(board.gbps)} GB/s of memory. A dot is an operator with its shapes; its size is the share of kernel time.`
      : "The peaks of the GPU are unknown (set --gpu-arch), so there is no roof. A dot is an operator with its shapes; its size is the share of kernel time.") + below, [], chart);
  }

  // ---- launch queue and idle time
  function queueSection(data, timeline) {
    if (!data.queue) return;
    const q = data.queue;
    const depth = RS.array(q.depth);
    const most = RS.array(q.most);
    const causes = q.causes.map((c) => ({ ...c, values: RS.array(c.percent) })).filter((c) => c.values.some((v) => v > 0));
    const ms = (i) => i * q.width / 1e6;
    const option = () => ({
      grid: [{ left: 60, right: 16, top: 24, height: 92 }, { left: 60, right: 16, top: 160, height: 92 }],
      axisPointer: { link: [{ xAxisIndex: "all" }] },
      legend: { top: 132, right: 0, itemWidth: 12, itemHeight: 10, textStyle: { color: RS.colour("fg") }, data: causes.map((c) => c.cause) },
      xAxis: [{ type: "value", gridIndex: 0, max: ms(depth.length), axisLabel: { show: false } }, { type: "value", gridIndex: 1, max: ms(depth.length), name: "time (ms)", axisLabel: { formatter: RS.tick, showMaxLabel: false } }],
      yAxis: [{ type: "value", gridIndex: 0, name: "kernels waiting", axisLabel: { formatter: RS.tick }, splitNumber: 3 },
        { type: "value", gridIndex: 1, name: "idle (%)", max: (v) => Math.max(1, Math.min(100, Math.ceil(v.max))), min: 0, splitNumber: 2 }],
      series: [
        { type: "line", step: "start", symbol: "none", xAxisIndex: 0, yAxisIndex: 0, data: Array.from(depth, (v, i) => [ms(i), v]), lineStyle: { color: RS.colour("accent"), width: 1.5 }, areaStyle: { color: RS.colour("accent"), opacity: 0.15 } },
        ...causes.map((c) => ({ name: c.cause, type: "line", step: "start", stack: "idle", symbol: "none", xAxisIndex: 1, yAxisIndex: 1, data: Array.from(c.values, (v, i) => [ms(i), v]),
          lineStyle: { width: 0 }, itemStyle: { color: RS.colour(`idle-${c.cause}`) }, areaStyle: { color: RS.colour(`idle-${c.cause}`), opacity: 1 } })),
      ],
    });
    const chart = RS.chart(option, {
      label: "launch queue and idle time over time", height: 300, axis: true, canvas: true,
      tip: (list) => { const i = list[0].dataIndex; return RS.rows(`${RS.num(ms(i))} ms`, [["waiting", `${RS.num(depth[i])} kernels, at most ${most[i]}`],
        ...causes.filter((c) => c.values[i] > 0).map((c) => [`idle: ${c.cause}`, `${RS.percent(c.values[i])} (${c.help})`])]); },
    });
    chart.addEventListener("click", (e) => {
      const at = RS.chartOf(chart)?.convertFromPixel({ xAxisIndex: 1 }, [e.offsetX, e.offsetY]);
      const ns = (Array.isArray(at) ? at[0] : at) * 1e6;
      if (timeline && Number.isFinite(ns)) { timeline.zoomTo(ns - 4 * q.width, ns + 5 * q.width); document.getElementById("timeline").scrollIntoView(); }
    });
    RS.section("queue", "Launch queue and idle time", "Above: kernels launched and not started; an empty queue means that the host is behind. Below: share of time without GPU work, by cause. A click shows the place in the timeline.", [], chart);
  }

  // ---- steps
  const kMeasures = [["total_time", "total"], ["computation_time", "computation"], ["exposed_comm_time", "exposed communication"], ["exposed_memcpy_time", "exposed copies"], ["idle_time", "idle"]];
  const median = (values) => { const v = values.filter(Number.isFinite).sort((a, b) => a - b); return v.length ? (v[(v.length - 1) >> 1] + v[v.length >> 1]) / 2 : NaN; };

  function stepsSection(data) {
    const numbers = RS.array(data.steps.number);
    const ranks = RS.array(data.steps.rank);
    if (numbers.length < 2) return;
    const all = Object.fromEntries(kMeasures.map(([k]) => [k, RS.array(data.steps[k])]));
    const measures = kMeasures.filter(([k]) => all[k].some((v) => v > 0));
    let now = measures[0][0];
    const at = (r, s) => all[now][r * numbers.length + s];
    let chart = null;
    if (ranks.length === 1) {
      // outlier: further from the median than 3.5 robust deviations (Iglewicz and Hoaglin 1993)
      const judge = () => {
        const values = [...numbers.keys()].map((s) => at(0, s));
        const middle = median(values);
        const spread = median(values.map((v) => Math.abs(v - middle))) * 1.4826;
        return { values, middle, odd: (v) => Math.abs(v - middle) > Math.max(3.5 * spread, 0.001 * middle) };
      };
      chart = RS.chart(() => {
        const j = judge();
        return {
          xAxis: { type: "category", data: Array.from(numbers, String), name: "step" },
          yAxis: { type: "value", scale: true, name: "time (ms)", axisLabel: { formatter: RS.tick } },
          series: [{ type: "scatter", data: j.values.map((v) => ({ value: Number.isFinite(v) ? v : "-", symbol: j.odd(v) ? "diamond" : "circle", symbolSize: j.odd(v) ? 13 : 8,
            itemStyle: { color: j.odd(v) ? RS.colour("mark") : RS.colour("accent") } })),
          markLine: { symbol: "none", silent: true, data: [{ yAxis: j.middle }], label: { formatter: "median", position: "insideEndTop", color: RS.colour("soft") }, lineStyle: { color: RS.colour("soft") } } }],
        };
      }, {
        label: "time of every step", height: 220,
        tip: (p) => RS.rows(`step ${numbers[p.dataIndex]}`, [["time", `${RS.num(at(0, p.dataIndex), 4)} ms`], ["against the median", RS.signed(100 * (at(0, p.dataIndex) / judge().middle - 1), " %")]]),
        onClick: (p) => showStep(data, numbers[p.dataIndex]),
      });
      RS.section("steps", "Steps", "A dot is a step; a dark diamond is further from the median than 3.5 robust deviations. A click shows it in the timeline.",
        [RS.choice("m", "which time", measures, (m) => { now = m; RS.redraw(chart); })], chart);
      return;
    }
    let medians = []; // median of each step over the ranks
    const relative = (r, s) => 100 * (at(r, s) / medians[s] - 1);
    // rows of the chart: ranks in ascending order, or by descending excess
    let byExcess = false;
    let rows = [];
    const order = () => {
      const excess = [...ranks.keys()].map((r) => median([...numbers.keys()].map((s) => relative(r, s))));
      const size = (r) => Number.isFinite(excess[r]) ? Math.abs(excess[r]) : -1;
      return byExcess ? [...ranks.keys()].sort((a, b) => size(b) - size(a) || a - b) : [...ranks.keys()];
    };
    const slow = RS.array(data.steps.slow);
    chart = RS.chart(() => {
      medians = [...numbers.keys()].map((s) => median([...ranks.keys()].map((k) => at(k, s))));
      rows = order();
      const cells = [];
      for (let row = 0; row < rows.length; row++) for (let s = 0; s < numbers.length; s++) { const v = relative(rows[row], s); if (Number.isFinite(v)) cells.push([s, row, v]); }
      const sizes = cells.map((c) => Math.abs(c[2])).sort((a, b) => a - b);
      const most = Math.max(0.5, sizes[Math.floor(sizes.length * 0.98)] || 0);
      return {
        grid: { left: 60, right: 110, top: 8, bottom: 44 },
        xAxis: { type: "category", data: Array.from(numbers, String), name: "step", splitArea: { show: false } },
        yAxis: { type: "category", inverse: true, data: rows.map((r) => String(ranks[r])), name: "rank" },
        visualMap: { seriesIndex: 0, min: -most, max: most, calculable: false, right: 0, top: "middle", itemHeight: 120, dimension: 2, textStyle: { color: RS.colour("fg") }, text: [`+${RS.num(most)} %`, `\u2212${RS.num(most)} %`],
          inRange: { color: [RS.colour("compute"), RS.colour("panel"), RS.colour("exposed")] } },
        series: [{ type: "heatmap", data: cells, itemStyle: { borderColor: RS.colour("bg"), borderWidth: ranks.length > 40 || numbers.length > 80 ? 0 : 1 } },
          { type: "custom", z: 3, silent: true, data: Array.from(slow, (r) => [0, rows.indexOf(r)]), encode: { x: 0, y: 1 },
            renderItem: (_, api) => {
              const [x, y] = api.coord([0, api.value(1)]);
              const [wide, high] = api.size([1, 1]);
              const tall = Math.max(3, high);
              return { type: "rect", shape: { x: x - wide / 2, y: y - tall / 2, width: wide * numbers.length, height: tall }, style: { fill: "none", stroke: RS.colour("bad"), lineWidth: 2 } };
            } }],
      };
    }, {
      label: "ranks by steps: time against the median of the step", height: Math.max(180, Math.min(620, ranks.length * 22 + 70)), canvas: true,
      tip: (p) => RS.rows(`rank ${ranks[rows[p.value[1]]]}, step ${numbers[p.value[0]]}`, [["time", `${RS.num(at(rows[p.value[1]], p.value[0]), 4)} ms`], ["against the step's median", RS.signed(p.value[2], " %")]]),
      onClick: (p) => showStep(data, numbers[p.value[0]], ranks[rows[p.value[1]]]),
    });
    RS.section("steps", "Ranks and steps", "A cell compares the time of a rank's step with the median of all ranks in that step. Blue: shorter. Orange: longer. A striking row points to one rank, a striking column to one step of all ranks. Frame: a rank that computes significantly longer than its peers. A click shows it in the timeline.",
      [RS.choice("m", "which time", [...measures.slice(1), measures[0]], (m) => { now = m; RS.redraw(chart); }),
        RS.choice("ro", "order of the ranks", [["rank", "by rank"], ["excess", "largest difference first"]], (o) => { byExcess = o === "excess"; RS.redraw(chart); })], headlines(data, "slow-ranks", ["slow-rank", "no-slow-rank"]), chart);
  }

  /** Returns a line with the headlines of the findings that have one of these rules. */
  function headlines(data, id, rules) {
    return el("p", { class: "note", id }, data.findings.filter((f) => rules.includes(f.rule)).map((f) => `${f.headline}.`).join(" "));
  }

  function showStep(data, number, rank) {
    const of = data.ranks.find((r) => rank === undefined || r.rank === rank);
    const step = of?.steps.find((s) => s.step === number);
    if (!step) return;
    const change = { t: `${Math.round(Math.max(0, step.start + of.at))},${Math.round(step.end + of.at)}` };
    if (rank !== undefined && data.ranks.length > 1) change.r = `${Math.max(0, rank - 1)}-${rank + 1}`;
    RS.state.set(change);
    document.getElementById("timeline")?.scrollIntoView();
  }

  /** Returns a table whose rows mark the calls of a name in the timeline, and a line that says so. `named`: the column of the name. */
  function markingGrid(options, named, timeline) {
    const grid = RS.grid({
      ...options, selected: (r) => named.value(r) === RS.state.get("k"),
      onRow: (r) => { const name = named.value(r); RS.state.set({ k: RS.state.get("k") === name ? "" : name }); },
    });
    const marked = el("span", { class: "sub", "aria-live": "polite" });
    const look = el("button", { type: "button", hidden: true, onclick: () => document.getElementById("timeline").scrollIntoView() }, "show in the timeline");
    RS.state.on(["k"], () => {
      grid.refresh();
      const calls = timeline ? timeline.markedCalls() : 0;
      look.hidden = !calls;
      marked.textContent = calls ? `${RS.exact(calls)} calls are marked` : "";
    });
    return { node: grid.node, bar: [marked, look] };
  }

  // ---- kernels
  function kernelsSection(data, timeline) {
    const source = data.kernels || data.top_kernels;
    if (!source?.rows) return;
    const all = RS.columnsOf(source);
    const short = all.find((c) => c.id === "short_name");
    const columns = all.filter((c) => c !== short);
    const [full] = columns;
    Object.assign(full, { width: 420, show: short.show, full: full.value });
    const grid = markingGrid({ name: "kernels", columns, rows: source.rows, key: "f" }, columns[0], timeline);
    RS.section("kernels", "Kernels, search", "A row marks its calls in the timeline.", grid.bar, grid.node);
  }

  // ---- collectives of a run
  function collectivesSection(data) {
    const list = data.bandwidths || [];
    const points = list.filter((b) => b.mib > 0 && b.bus > 0);
    if (points.length) {
      const names = [...new Set(points.map((b) => b.name))];
      const chart = RS.bandwidthChart(() => ({ points, x: (b) => b.mib, xAxis: { type: "log", name: "size (MiB, log)", axisLabel: { formatter: RS.tick } }, series: names, seriesOf: (b) => b.name }),
        "bus bandwidth of the collectives by size", () => []);
      const table = data.top_collectives ? RS.onDemand("collectives as a table", () =>
        RS.grid({ name: "collectives", columns: RS.columnsOf(data.top_collectives), rows: data.top_collectives.rows, fit: true }).node) : null;
      RS.section("bandwidth", "Bandwidth by size, collectives", "One mark per kind, size and group: mean over its collectives with the 95 % interval. The bandwidth excludes waits for late ranks, because it uses the time of the rank that waited least.",
        table ? [table.button] : [], chart, table?.place);
    }
    RS.rankBandwidths(data);
    skewSection(data);
    groupsSection(data);
  }

  function skewSection(data) {
    const rows = (data.skew || []).filter((s) => s.late_us !== null && s.late_us !== undefined).sort((a, b) => b.late_us - a.late_us);
    if (rows.length < 2) return;
    const named = headlines(data, "late-ranks", ["late-rank", "no-late-rank"]);
    if (rows.length > 64) return skewHistogram(rows, named);
    const chart = RS.chart(() => ({
      grid: { left: 90, right: 24, top: 8, bottom: 44 },
      xAxis: { type: "value", name: "later than the others (\u00b5s per collective)", axisLabel: { formatter: RS.tick } },
      yAxis: { type: "category", inverse: true, data: rows.map((s) => `rank ${s.rank}`), axisTick: { show: false } },
      series: [{
        type: "custom", data: rows.map((s, i) => [s.low, i, s.high, s.late_us]), encode: { x: [0, 2], y: 1 },
        markLine: { symbol: "none", silent: true, data: [{ xAxis: 0 }], label: { show: false }, lineStyle: { color: RS.colour("soft"), type: "solid" } },
        renderItem: (p, api) => {
          const s = rows[p.dataIndex];
          const colour = RS.colour(s.late ? "exposed" : "grey");
          const at = (v) => api.coord([v, api.value(1)]);
          const y = at(0)[1];
          return { type: "group", children: [{ type: "line", shape: { x1: at(s.low)[0], x2: at(s.high)[0], y1: y, y2: y }, style: { stroke: colour, lineWidth: 2 } },
            s.late ? { type: "polygon", shape: { points: [[at(s.late_us)[0] - 6, y], [at(s.late_us)[0], y - 6], [at(s.late_us)[0] + 6, y], [at(s.late_us)[0], y + 6]] }, style: { fill: colour } }
              : { type: "circle", shape: { cx: at(s.late_us)[0], cy: y, r: 5 }, style: { fill: colour } }] };
        },
      }],
    }), {
      label: "how much later each rank starts its collectives", height: Math.max(160, Math.min(900, rows.length * 22 + 64)),
      tip: (p) => { const s = rows[p.dataIndex]; return RS.rows(`rank ${s.rank}`, [["later by", `${RS.num(s.late_us)} \u00b5s (${RS.num(s.low)} to ${RS.num(s.high)})`], ["last to start", `${RS.percent(s.last_percent)} of ${RS.exact(s.collectives)}`],
        ["waits for others", `${RS.num(s.wait_ms)} ms`], ["", s.late ? "significantly later" : "not significantly later"]]); },
      onClick: (p) => RS.state.set({ r: String(rows[p.dataIndex].rank) }),
    });
    RS.section("skew", "Late ranks", "How much later a rank starts its collectives than the others, mean over the steps; intervals: 95 % over all ranks. Orange diamond: significantly later. Grey: not significantly later.", [], named, chart);
  }

  // For many ranks: a histogram of the lateness.
  function skewHistogram(rows, named) {
    const kBins = 40;
    const least = rows[rows.length - 1].late_us;
    const width = (rows[0].late_us - least) / kBins || 1;
    const bins = Array.from({ length: kBins }, (_, i) => ({ from: least + i * width, ranks: 0, late: 0 }));
    for (const s of rows) {
      const bin = bins[Math.min(kBins - 1, Math.floor((s.late_us - least) / width))];
      bin.ranks++;
      bin.late += s.late ? 1 : 0;
    }
    const part = (name, colour, value) => ({ name, type: "bar", stack: "ranks", barCategoryGap: "10%", barMinHeight: 4, itemStyle: { color: RS.colour(colour) }, data: bins.map(value) });
    const chart = RS.chart(() => ({
      grid: { left: 60, right: 24, top: 8, bottom: 44 },
      xAxis: { type: "category", data: bins.map((b) => RS.num(b.from + width / 2)), name: "later than the others (\u00b5s per collective)" },
      yAxis: { type: "value", name: "ranks", minInterval: 1 },
      series: [part("not later", "grey", (b) => b.ranks - b.late || "-"), part("later", "exposed", (b) => b.late || "-")],
    }), {
      label: "histogram: how much later ranks start their collectives", height: 240,
      tip: (p) => { const b = bins[p.dataIndex]; return RS.rows(`${RS.num(b.from)} to ${RS.num(b.from + width)} \u00b5s`, [["ranks", b.ranks], ["significantly later", b.late]]); },
    });
    RS.section("skew", "Late ranks", "Number of ranks by how much later they start their collectives than the others, mean over the steps. Orange: significantly later.", [], named, chart);
  }

  function groupsSection(data) {
    const all = (data.groups || []).map((g) => ({ ...g, of: new Set(RS.array(g.members)) }));
    if (!all.length || data.ranks.length < 2) return;
    // with many ranks, a group with only one shown rank is omitted
    const groups = data.ranks.length > 64 ? all.filter((g) => g.of.size > 1).slice(0, 40) : all;
    if (!groups.length) return;
    const note = groups.length < all.length ? ` ${all.length - groups.length} groups with one shown rank or with less time are left out.` : "";
    const cells = [];
    groups.forEach((g, y) => g.of.forEach((r) => cells.push([r, y, g.ms])));
    const chart = RS.chart(() => ({
      grid: { left: 130, right: 16, top: 8, bottom: 44 },
      xAxis: { type: "category", data: data.ranks.map((r) => String(r.rank)), name: "rank" },
      yAxis: { type: "category", inverse: true, data: groups.map((g) => RS.short(`${g.name} ${g.description}`.trim(), 18)), axisTick: { show: false } },
      series: [{ type: "heatmap", data: cells, itemStyle: { color: RS.colour("exposed"), borderColor: RS.colour("bg"), borderWidth: 1 } }],
      visualMap: { show: false, min: 0, max: Math.max(...groups.map((g) => g.ms)), dimension: 2, inRange: { color: [RS.colour("hidden"), RS.colour("exposed")] } },
    }), {
      label: "which ranks are in which process group", height: Math.max(120, groups.length * 26 + 64),
      tip: (p) => { const g = groups[p.value[1]]; return RS.rows(g.name, [["description", g.description], ["ranks seen", g.of.size], ["size", g.size || ""], ["span", g.span], ["collectives", RS.exact(g.collectives)], ["moved", `${RS.num(g.mib)} MiB`], ["time (all ranks)", `${RS.num(g.ms)} ms`], ["median bus", g.bus === null ? "" : `${RS.num(g.bus)} GB/s`]]); },
    });
    RS.section("groups", "Process groups", "Rows: groups, most time first. A filled cell: the rank took part; darker: more time." + note, [], chart);
  }

  function ranksTables(data, timeline) {
    const columnsOf = (source) => RS.columnsOf(source).filter((c) => c.id !== "path" && c.id !== "trace");
    if (data.top_ranks?.rows) {
      const columns = columnsOf(data.top_ranks);
      const rank = columns.find((c) => c.id === "rank");
      RS.section("ranks", "Ranks", "A row shows the rank in the timeline.", [], RS.grid({ name: "Ranks", columns, rows: data.top_ranks.rows, fit: true,
        onRow: (r) => { RS.state.set({ r: String(rank.value(r)) }); document.getElementById("timeline")?.scrollIntoView(); } }).node);
    }
    if (data.top_operators?.rows) {
      const columns = columnsOf(data.top_operators);
      const grid = markingGrid({ name: "operators", columns, rows: data.top_operators.rows, fit: true, key: "o" }, columns.find((c) => c.id === "name"), timeline);
      RS.section("operators", "Operators, search", "Sums over the ranks. A row marks its calls in the timeline.", grid.bar, grid.node);
    }
  }

  RS.showRun = (data) => {
    sharesSection(data);
    const many = data.ranks.length > 1;
    if (many) {
      stepsSection(data);
      collectivesSection(data);
    }
    const timeline = timelineSection(data);
    if (!many) {
      stepsSection(data);
      dotsSection(data, timeline);
      rooflineSection(data);
      queueSection(data, timeline);
    } else {
      ranksTables(data, timeline);
    }
    kernelsSection(data, timeline);
    return [
      ["computation, exposed, hidden", "GPU time in computation; communication that no computation overlaps is exposed, the rest is hidden. Times of a bar do not overlap: computation takes precedence over communication, and communication over copies."],
      ["idle causes", "The work that ends a gap shows its cause: host (not launched yet), synchronisation (the same, while the launching thread was in a blocking call), launch (from the call to the start), queued (launched before), unknown (no launch in the trace)."],
      ["of roofline", "Minimum time the GPU allows for the operator's FLOP and bytes, over its measured time."],
      ["interval", "95 % confidence; if several ranks are judged together, for all of them (Bonferroni)."],
      ["columns", "The tooltip of a table header explains its column; rankscope columns lists all columns."],
    ];
  };
})();
