// Charts of bus bandwidths with the interval of each mean, for runs and sweeps.
(() => {
  const kShapes = ["circle", "triangle", "rect", "diamond", "pin", "arrow"];

  const intervals = (rows, x) => ({
    type: "custom", silent: true, z: 1, data: rows.filter((b) => Number.isFinite(b.low) && b.low !== null).map((b) => [x(b), b.low, b.high]), encode: { x: 0, y: [1, 2] },
    renderItem: (_, api) => {
      const a = api.coord([api.value(0), api.value(1)]);
      const b = api.coord([api.value(0), api.value(2)]);
      const style = { stroke: RS.colour("soft"), lineWidth: 1.5 };
      const cap = (y) => ({ type: "line", shape: { x1: a[0] - 4, x2: a[0] + 4, y1: y, y2: y }, style });
      return { type: "group", children: [{ type: "line", shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }, style }, cap(a[1]), cap(b[1])] };
    },
  });

  /**
   * Makes a chart. choice() returns {points, x(b), xAxis, series: [name, ...], seriesOf(b), line} for each drawing.
   * about(b): the first rows of the hover box.
   */
  RS.bandwidthChart = (choice, label, about, onClick) => RS.chart(() => {
    const c = choice();
    return {
      legend: c.series.length > 1 ? { type: "scroll", top: 0, right: 0, textStyle: { color: RS.colour("fg") }, data: c.series } : undefined,
      grid: { left: 60, right: 16, top: 32, bottom: 44 },
      xAxis: c.xAxis,
      yAxis: { type: "value", name: "bus bandwidth (GB/s)", min: 0, axisLabel: { formatter: RS.tick } },
      series: c.series.flatMap((name, i) => {
        const mine = c.points.filter((b) => c.seriesOf(b) === name);
        return [{
          name, type: "scatter", symbol: kShapes[i % kShapes.length], symbolSize: 13, itemStyle: { color: "transparent", borderColor: RS.colour("exposed"), borderWidth: 2 },
          data: mine.map((b) => ({ value: [c.x(b), b.bus], of: b })),
        }, intervals(mine, c.x)];
      }),
    };
  }, {
    label, height: 340, onClick,
    tip: (p) => {
      const b = p.data.of;
      return b ? RS.rows(`${b.name} ${b.dtype}`, [...about(b), ["size", `${RS.num(b.mib)} MiB`], ["bus", `${RS.num(b.bus)} GB/s${Number.isFinite(b.low) && b.low !== null ? ` (95 %: ${RS.num(b.low)} to ${RS.num(b.high)})` : ""}`],
        ["group", `${b.group} of ${b.size}`], ["count", RS.exact(b.count)], ["latency", `${RS.num(b.latency_us)} \u00b5s`], ["skew of starts", `${RS.num(b.skew_us)} \u00b5s`]]) : "";
    },
  });

  /** Adds bandwidths by rank: each cell {class, rank} is compared with collectives of the same kind without that rank. */
  RS.rankBandwidths = (data) => {
    const of = data.rank_bandwidth;
    if (!of) return;
    const column = Object.fromEntries(["class", "rank", "count", "bus", "others", "difference", "half"].map((k) => [k, RS.array(of[k])]));
    const cells = [...column.class.keys()];
    if (!cells.length) return;
    const told = (i) => Math.abs(column.difference[i]) > column.half[i];
    const percent = (i) => 100 * (column.bus[i] / column.others[i] - 1);
    const named = of.classes.map((c) => RS.short(`${c.name} ${RS.num(c.mib)} MiB of ${c.size}`, 34));
    const chart = RS.chart(() => {
      const most = Math.max(1, ...cells.filter(told).map((i) => Math.abs(percent(i))));
      return {
        grid: { left: innerWidth < 700 ? 110 : 230, right: 110, top: 8, bottom: 44 },
        xAxis: { type: "category", data: data.ranks.map((r) => String(r.rank)), name: "rank" },
        yAxis: { type: "category", inverse: true, data: named, axisTick: { show: false }, axisLabel: { formatter: (t) => RS.short(t, innerWidth < 700 ? 14 : 34) } },
        visualMap: { min: -most, max: most, calculable: false, right: 0, top: "middle", itemHeight: 90, dimension: 2, textStyle: { color: RS.colour("fg") }, text: [`+${RS.num(most)} %`, `\u2212${RS.num(most)} %`],
          inRange: { color: [RS.colour("exposed"), RS.colour("panel"), RS.colour("compute")] } },
        series: [{ type: "heatmap", itemStyle: { borderColor: RS.colour("bg"), borderWidth: 1 },
          data: cells.map((i) => ({ value: [column.rank[i], column.class[i], told(i) ? percent(i) : 0], of: i, ...(told(i) ? {} : { itemStyle: { color: RS.colour("line") }, visualMap: false }) })) }],
      };
    }, {
      label: "bus bandwidth by rank and kind of collective, against the collectives without that rank", height: Math.max(140, Math.min(620, named.length * 26 + 70)),
      tip: (p) => {
        const i = p.data.of;
        return RS.rows(`rank ${data.ranks[column.rank[i]].rank}, ${named[column.class[i]]}`, [["with this rank", `${RS.num(column.bus[i], 4)} GB/s, ${RS.exact(column.count[i])} collectives`], ["without this rank", `${RS.num(column.others[i], 4)} GB/s`],
          ["difference", Number.isFinite(column.difference[i]) ? `${RS.signed(column.difference[i])} \u00b1 ${RS.num(column.half[i])} GB/s, ${RS.signed(percent(i), " %")}` : ""], ["", told(i) ? "significant" : "no significant difference"]]);
      },
      onClick: (p) => RS.state.set({ r: String(data.ranks[column.rank[p.data.of]].rank) }),
    });
    RS.section("rank-bandwidth", "Bandwidth by rank, collectives", "A cell compares collectives that the rank took part in with those of the same kind and size without it. Orange: slower. Blue: faster. Grey: no significant difference (95 % over all cells).", [], chart);
  };
})();
