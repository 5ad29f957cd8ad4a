// The page of a history: each metric over the runs, its levels, and the runs at which they change.
(() => {
  const { el } = RS;

  RS.showHistory = (data) => {
    const metrics = data.metrics.map((m) => ({ ...m, values: RS.array(m.values), levels: RS.array(m.levels) }));
    const worse = (c) => c.change !== null && c.change < 0;
    const percent = (c) => (c.change === null ? "" : RS.signed(c.change, " %"));
    const interval = (c) => (c.low === null || c.high === null ? "" : `${RS.num(c.low)} to ${RS.num(c.high)} %`);
    const word = (c) => (c.change === null ? "changed" : worse(c) ? "\u25bc worse" : "\u25b2 better");
    const tone = (c) => RS.colour(c.change === null ? "grey" : worse(c) ? "bad" : "good");
    const first = Math.max(0, metrics.findIndex((m) => m.changes.length));
    let now = metrics[first];

    RS.section("overview", "Overview", null, [],
      data.findings.length ? RS.findings(data.findings) : el("p", { class: "sub" }, "No changes beyond the noise."));

    const about = (i) => RS.rows(data.runs[i], [[now.metric, `${RS.num(now.values[i], 5)} ${now.unit}`], ["its level", `${RS.num(now.levels[i], 5)} ${now.unit}`],
      ...now.changes.filter((c) => c.run === i).map((c) => [word(c), `${percent(c)} (${interval(c)})`])]);
    if (!metrics.length) {
      RS.section("series", "Over the runs", "No run has a metric that can be compared.", []);
      return [];
    }
    const chart = RS.chart(() => ({
      grid: { left: 70, right: 24, top: 24, bottom: 60 },
      xAxis: { type: "category", data: data.runs, axisLabel: { formatter: (t) => RS.short(t, 16) }, boundaryGap: true },
      yAxis: { type: "value", scale: true, name: `${now.metric} (${now.unit})`, axisLabel: { formatter: RS.tick } },
      series: [
        { name: "level", type: "line", symbol: "none", silent: true, connectNulls: false, lineStyle: { width: 2, color: RS.colour("soft") },
          // levels change in steps, not in slopes
          data: data.runs.map((_, i) => (Number.isFinite(now.values[i]) ? now.levels[i] : null)), step: "middle" },
        { name: "run", type: "scatter", symbolSize: (_, p) => (now.changes.some((c) => c.run === p.dataIndex) ? 12 : 8),
          data: data.runs.map((_, i) => { const c = now.changes.find((x) => x.run === i);
            return { value: [i, Number.isFinite(now.values[i]) ? now.values[i] : null], symbol: c ? "diamond" : "circle", itemStyle: { color: c ? tone(c) : RS.colour("accent") } }; }),
          markLine: { symbol: "none", silent: true, lineStyle: { type: "dashed" },
            data: now.changes.map((c) => ({ xAxis: c.run, lineStyle: { color: tone(c) }, label: { formatter: percent(c), color: tone(c) } })) } },
      ],
    }), { label: "the chosen metric of every run, its levels and changes", height: 360, tip: (p) => (p.seriesName === "run" ? about(p.dataIndex) : null) });
    RS.section("series", "Over the runs", "A dot is a run; the grey line is its level. A diamond begins a new level: green is better, red is worse, with the change in percent.",
      [RS.choice("m", "which metric", [metrics[first], ...metrics.filter((_, i) => i !== first)].map((m) => [m.metric, m.changes.length ? `${m.metric} (${m.changes.length} change${m.changes.length > 1 ? "s" : ""})` : m.metric]),
        (id) => { now = metrics.find((m) => m.metric === id) || metrics[first]; RS.redraw(chart); })], chart);

    const all = metrics.flatMap((m) => m.changes.map((c) => ({ m, c })));
    if (all.length) {
      const marks = RS.chart(() => ({
        grid: { left: innerWidth < 700 ? 150 : 320, right: 24, top: 8, bottom: 44 },
        xAxis: { type: "value", name: "change (%), to the right is better", axisLabel: { formatter: RS.tick } },
        yAxis: { type: "category", inverse: true, data: all.map(({ m, c }) => `${m.metric} at ${data.runs[c.run]}`), axisTick: { show: false }, axisLabel: { formatter: (t) => RS.short(t, innerWidth < 700 ? 24 : 48) } },
        series: [{ ...RS.intervalMarks(all.map(({ c }) => ({ low: c.low, mean: c.change ?? 0, high: c.high, colour: tone(c), diamond: true }))),
          markLine: { symbol: "none", silent: true, data: [{ xAxis: 0 }], label: { show: false }, lineStyle: { color: RS.colour("soft"), type: "solid" } } }],
      }), { label: "changes with their intervals", height: Math.max(140, all.length * 26 + 60),
        tip: (p) => { const { m, c } = all[p.dataIndex]; return RS.rows(`${m.metric} at ${data.runs[c.run]}`, [["before", `${RS.num(c.before, 5)} ${m.unit}`], ["since", `${RS.num(c.after, 5)} ${m.unit}`], [word(c), `${percent(c)} (${interval(c)})`]]); },
        onClick: (p) => RS.state.set({ m: all[p.dataIndex].m.metric }) });
      RS.section("changes", "Changes", "Each change with the interval of its size. A click on a change shows its metric above.", [], marks,
        RS.grid({ name: "changes", columns: RS.columnsOf(data.Change_Points), rows: data.Change_Points.rows, fit: true, key: "c" }).node);
    }
    RS.section("figures", "All metrics", null, [], RS.grid({ name: "metrics", columns: RS.columnsOf(data.History), rows: data.History.rows, fit: true, key: "f" }).node);
    return [
      ["level", "The mean of the runs between two changes."],
      ["change", "A step in the mean of the runs, larger than chance in 9999 permutations of their order. All metrics share 5 %, so a history without changes shows one with a probability of at most 5 %."],
      ["interval", "Welch's interval from the runs on both sides; it assumes that there is a change at that run."],
      ["positive", "Positive is better for every metric: less time, more bandwidth."],
      ["runs needed", `With ${metrics.length} metrics, at least ${data.needed} runs are needed to find a change.`],
    ];
  };
})();
