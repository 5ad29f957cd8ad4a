// The page of a comparison: significant changes for the better or worse, and the components of the difference.
(() => {
  const { el } = RS;
  const kGood = "Better";
  const kBad = "Worse";

  RS.showComparison = (data) => {
    const tests = data.labels.slice(1);
    let now = 0;
    const toneOf = (verdict) => (verdict === kGood ? "good" : verdict === kBad ? "bad" : "grey");
    const signOf = (verdict) => (verdict === kGood ? "\u25b2 better" : verdict === kBad ? "\u25bc worse" : verdict === "Similar" ? "alike" : (verdict || "").toLowerCase());
    const listeners = [];
    const choose = () => (tests.length > 1 ? [RS.choice("test", "which test", tests.map((t, i) => [String(i), t]), (i) => { now = Number(i) || 0; for (const call of listeners) call(); })] : []);

    RS.section("overview", "Overview", null, [], data.findings.length ? RS.findings(data.findings) : el("p", { class: "sub" }, "No findings beyond the noise."));

    // ---- verdicts: one dot with its interval per metric, and the table below
    const shown = () => data.verdicts.filter((v) => v.tests[now] && v.tests[now].low !== null && v.tests[now].low !== undefined);
    const dots = RS.chart(() => {
      const rows = shown();
      return {
        grid: { left: innerWidth < 700 ? 130 : 220, right: 24, top: 8, bottom: 44 },
        xAxis: { type: "value", name: "change (%), to the right is better", axisLabel: { formatter: RS.tick } },
        yAxis: { type: "category", inverse: true, data: rows.map((r) => r.metric), axisTick: { show: false }, axisLabel: { formatter: (t) => RS.short(t, innerWidth < 700 ? 20 : 34) } },
        series: [{ ...RS.intervalMarks(rows.map((r) => { const t = r.tests[now]; const tone = toneOf(t.verdict);
          return { low: t.low, mean: t.change, high: t.high, colour: RS.colour(tone), diamond: tone !== "grey" }; })),
        markLine: { symbol: "none", silent: true, data: [{ xAxis: 0 }], label: { show: false }, lineStyle: { color: RS.colour("soft"), type: "solid" } } }],
      };
    }, { label: "change of the key metrics with intervals; diamonds are significant and above the threshold", height: Math.max(140, data.verdicts.length * 24 + 60),
      tip: (p) => { const r = shown()[p.dataIndex]; const t = r.tests[now]; return RS.rows(r.metric, [["baseline", `${RS.num(t.base, 4)} ${r.unit}`], [tests[now], `${RS.num(t.value, 4)} ${r.unit}`],
        ["change", `${RS.signed(t.change, " %")} (${RS.num(t.low)} to ${RS.num(t.high)})`], ["complete runs", RS.signed(t.complete_run, " %")], ["samples", `${t.samples_base} and ${t.samples_test}`], ["verdict", signOf(t.verdict)]]); } });
    const columns = [
      { id: "metric", label: "metric", help: "of the dashboard", text: true, width: 260, value: (r) => data.verdicts[r].metric, show: (r) => data.verdicts[r].metric },
      { id: "unit", label: "unit", help: "of both values", text: true, width: 80, value: (r) => data.verdicts[r].unit, show: (r) => data.verdicts[r].unit },
      { id: "base", label: data.labels[0], help: "the baseline", text: false, value: (r) => data.verdicts[r].base ?? NaN, show: (r) => RS.num(data.verdicts[r].base, 4) },
      ...tests.flatMap((label, i) => {
        const of = (r, key) => data.verdicts[r].tests[i]?.[key] ?? NaN;
        const prefix = tests.length > 1 ? `${label}: ` : "";
        return [
          { id: `value${i}`, label, help: "the test", text: false, value: (r) => of(r, "value"), show: (r) => RS.num(of(r, "value"), 4) },
          { id: `better${i}`, label: `${prefix}better (%)`, help: "positive is better", text: false, value: (r) => of(r, "better"), show: (r) => RS.num(of(r, "better")), tone: (r) => toneOf(data.verdicts[r].tests[i]?.verdict) },
          { id: `low${i}`, label: "from (%)", help: "interval of the change", text: false, value: (r) => of(r, "low"), show: (r) => RS.num(of(r, "low")) },
          { id: `high${i}`, label: "to (%)", help: "interval of the change", text: false, value: (r) => of(r, "high"), show: (r) => RS.num(of(r, "high")) },
          { id: `verdict${i}`, label: `${prefix}verdict`, help: "significant and above the threshold, or not", text: true, width: 110, value: (r) => signOf(data.verdicts[r].tests[i]?.verdict), show: (r) => signOf(data.verdicts[r].tests[i]?.verdict), tone: (r) => toneOf(data.verdicts[r].tests[i]?.verdict) },
        ];
      }),
    ];
    listeners.push(() => RS.redraw(dots));
    RS.section("verdicts", "Verdicts", "Positive is better. Colour with diamond or arrow: significant and above the threshold. Grey: no significant difference, below the threshold, or not judged.", choose(), dots,
      RS.grid({ name: "verdicts", columns, rows: data.verdicts.length, fit: true }).node);

    // ---- components of the difference
    const label = { computation_time: "computation", exposed_comm_time: "exposed communication", exposed_memcpy_time: "exposed copies", idle_time: "idle" };
    const parts = () => {
      const list = data.tests[now].parts.filter((p) => p.base !== null && p.test !== null);
      const bars = list.filter((p) => p.kind !== "total_time");
      const total = list.find((p) => p.kind === "total_time");
      const sum = (side) => bars.reduce((ms, p) => ms + p[side], 0); // of runs whose idle time is not comparable
      return { total: total || { base: sum("base"), test: sum("test") }, list: bars, without: total ? "" : " without idle time" };
    };
    const waterfall = RS.chart(() => {
      const { total, list, without } = parts();
      if (!list.length) return {};
      let at = total.base;
      const steps = list.map((p) => { const from = at; at += p.test - p.base; return { name: label[p.kind] || p.kind, from, to: at, part: p }; });
      const rows = [{ name: data.labels[0], from: total.base, to: total.base, end: true }, ...steps, { name: tests[now], from: total.test, to: total.test, end: true }];
      return {
        grid: { left: innerWidth < 700 ? 130 : 220, right: 70, top: 8, bottom: 44 },
        xAxis: { type: "value", scale: true, name: `GPU time ${data.tests[now].per_step ? "per step" : "of the trace"}${without} (ms), mean over the ranks of both runs`, axisLabel: { formatter: RS.tick } },
        yAxis: { type: "category", inverse: true, data: rows.map((r) => RS.short(r.name, 30)), axisTick: { show: false } },
        series: [{ type: "custom", data: rows.map((r, i) => [r.from, i, r.to]), encode: { x: [0, 2], y: 1 },
          renderItem: (p, api) => {
            const r = rows[p.dataIndex];
            const [a, y] = api.coord([r.from, api.value(1)]);
            const [b] = api.coord([r.to, api.value(1)]);
            const next = p.dataIndex + 1 < rows.length ? api.coord([r.to, api.value(1) + 1])[1] : y;
            const link = { type: "line", shape: { x1: b, x2: b, y1: y, y2: next }, style: { stroke: RS.colour("line"), lineWidth: 1 } };
            if (r.end) return { type: "group", children: [link, { type: "line", shape: { x1: a, x2: a, y1: y - 10, y2: y + 10 }, style: { stroke: RS.colour("fg"), lineWidth: 3 } }] };
            return { type: "group", children: [link, { type: "rect", shape: { x: Math.min(a, b), y: y - 8, width: Math.max(2, Math.abs(b - a)), height: 16 }, style: { fill: RS.colour(toneOf(r.part.verdict)) } },
              { type: "text", style: { text: `${r.to >= r.from ? "+" : "\u2212"}${RS.num(Math.abs(r.to - r.from))} ms`, x: Math.max(a, b) + 6, y: y - 6, fill: RS.colour("soft"), font: "11px system-ui" } }] };
          } }],
      };
    }, { label: "from the baseline's time to the test's, by kind of time", height: 240,
      tip: (p) => { const { total, list } = parts(); const part = list[p.dataIndex - 1]; if (!part) return RS.rows(p.dataIndex === 0 ? data.labels[0] : tests[now], [["total", `${RS.num(p.dataIndex === 0 ? total.base : total.test, 4)} ms`]]);
        return RS.rows(label[part.kind] || part.kind, [["baseline", `${RS.num(part.base, 4)} ms`], [tests[now], `${RS.num(part.test, 4)} ms`], ["interval", part.low !== null ? `${RS.num(part.low)} to ${RS.num(part.high)} % better` : ""], ["verdict", signOf(part.verdict)]]); } });
    const operators = el("div");
    const fill = () => {
      const { changes, changed } = data.tests[now];
      if (changes) {
        const all = RS.columnsOf(changes);
        const short = all.find((c) => c.id === "short_name");
        const cols = all.filter((c) => c !== short);
        const name = cols.find((c) => c.id === "name");
        Object.assign(name, { width: 320, show: short.show, full: name.value });
        operators.replaceChildren(el("ul", { class: "findings" }, changed.map((line) => el("li", {}, line))),
          el("h3", {}, "Kernels, collectives, operators and steps: new, vanished and replaced ones too"),
          RS.grid({ name: "changes", columns: cols, rows: changes.rows, key: "o", fit: true }).node);
        return;
      }
      const source = data.tests[now].operators;
      if (!source.rows) { operators.replaceChildren(); return; }
      const cols = RS.columnsOf(source);
      cols[0].width = 360;
      operators.replaceChildren(el("h3", {}, "Operators, new and vanished ones too"), RS.grid({ name: "operators", columns: cols, rows: source.rows, sort: ["difference_ms", true], key: "o", fit: true }).node);
    };
    fill();
    listeners.push(() => { RS.redraw(waterfall); fill(); });
    RS.section("changed", "Changes", "Each bar is one part of the time difference between the baseline and the test. Green and red: significant and above the threshold. Grey: not.", [], waterfall, operators);

    // ---- steps of both runs
    const kinds = [["total_time", "total"], ...Object.entries(label)].filter(([k]) => data.series.some((s) => RS.array(s[k].ms).some((v) => v > 0)));
    if (kinds.length) {
      let kind = kinds[0][0];
      const symbols = ["circle", "diamond", "triangle", "rect"];
      const chart = RS.chart(() => ({
        legend: { top: 0, right: 0, textStyle: { color: RS.colour("fg") } },
        grid: { left: 60, right: 16, top: 32, bottom: 44 },
        xAxis: { type: "value", name: "step", minInterval: 1, scale: true, axisLabel: { formatter: RS.tick } }, yAxis: { type: "value", scale: true, name: "time (ms)", axisLabel: { formatter: RS.tick } },
        series: data.series.map((s, i) => { const step = RS.array(s[kind].step); const ms = RS.array(s[kind].ms);
          return { name: s.label, type: "line", symbol: symbols[i % 4], symbolSize: 8, lineStyle: { width: 1, type: i === 0 ? "dashed" : "solid" }, itemStyle: { color: RS.colour(i === 0 ? "soft" : "accent"), opacity: i > 1 ? 0.6 : 1 },
            data: Array.from(step, (n, k) => [n, ms[k]]) }; }),
      }), { label: "time of every step in both runs", height: 280, tip: (p) => RS.rows(p.seriesName, [["step", p.value[0]], ["time", `${RS.num(p.value[1], 5)} ms`]]) });
      RS.section("series", "Steps of both runs", "Mean over the ranks that all runs have.", [RS.choice("m", "which time", kinds, (k) => { kind = k; RS.redraw(chart); })], chart);
    }

    for (const [key, title] of [["by_rank", "Times by rank"], ["collectives", "Collectives"]]) {
      if (!data.tests.some((t) => t[key])) continue;
      const place = el("div");
      const draw = () => { const source = data.tests[now][key]; place.replaceChildren(source ? RS.grid({ name: title, columns: RS.columnsOf(source), rows: source.rows, fit: true }).node : ""); };
      draw();
      listeners.push(draw);
      RS.section(key, title, null, [], place);
    }
    return [
      ["better, worse, grey", "The interval of the difference of the step means excludes 0 (5 % shared among the rows judged together), and the change exceeds the threshold. Grey: not significant, or below the threshold."],
      ["positive", "Positive is better for every metric: less time, more bandwidth."],
      ["own time", "Each instant of a step counts once: computation takes precedence over communication, and communication over copies; the rest is idle. So the rows of a list add up to the difference in step time."],
      ["replaced", "Another kernel at the same place: operator, shapes, launches per step, call path, grid, place in the step."],
      ["operators", "Shown for reports, which have no own times: GPU time per step (without steps: of the trace), mean over the ranks; without an interval, so a small difference may be noise."],
    ];
  };
})();
