// The timeline: one lane per stream. Zoomed out, each pixel column shows the share of each kind of work
// (from C++, see src/pages/data/lane_columns.h); zoomed in, it shows the events.
(() => {
  const { el } = RS;
  const kKeys = ["compute", "exposed", "hidden", "copy"];
  const kEventKeys = [...kKeys, "idle-host", "idle"]; // the last two only on the critical path
  const kGutter = 132;
  const kAxis = 34;

  /** Returns a lane of the blob with its arrays; index 0..n-1 ascending by start. */
  function laneOf(rank, lane) {
    const e = lane.events;
    const out = {
      rank: rank.rank, at: rank.at, span: rank.span, name: lane.stream < 0 ? "no stream" : `stream ${lane.stream}`, device: lane.device,
      inTrace: lane.in_trace, n: e.n, start: RS.times(e.start), dur: RS.times(e.dur), kind: RS.array(e.kind), label: RS.array(e.name),
      op: RS.array(e.op), about: RS.array(e.about), row: e.row ? RS.array(e.row) : null, delay: RS.array(e.delay), hidden: RS.array(e.hidden),
      columns: null,
    };
    for (let i = 0; i < out.n; i++) out.start[i] += rank.at;
    out.longest = 0;
    for (let i = 0; i < out.n; i++) out.longest = Math.max(out.longest, out.dur[i]);
    if (lane.columns) {
      const c = lane.columns;
      out.columns = { width: c.width, share: kKeys.map((k) => RS.array(c[k])), longest: RS.array(c.longest), begun: RS.array(c.begun) };
    }
    return out;
  }

  /** Returns the first index with start >= t. */
  function lowerBound(values, t) {
    let low = 0;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  RS.lanesOf = (data) => data.ranks.map((rank) => ({ rank: rank.rank, steps: rank.steps.map((s) => ({ ...s, start: s.start + rank.at, end: s.end + rank.at })),
    lanes: rank.lanes.map((lane) => laneOf(rank, lane)) }));

  /** Returns the critical path as a lane over all ranks; null if it is unknown. */
  RS.pathOf = (data) => {
    if (!data.path) return null;
    const p = data.path;
    const out = { path: true, rank: -1, at: 0, name: "critical path", device: -1, start: RS.times(p.start), dur: RS.times(p.dur), kind: RS.array(p.kind),
      label: RS.array(p.name), what: RS.array(p.what), ofRank: RS.array(p.rank), columns: null };
    out.n = out.inTrace = out.start.length;
    out.hidden = new Uint8Array(out.n);
    out.longest = out.dur.reduce((a, b) => Math.max(a, b), 0);
    return out;
  };

  /**
   * Makes a timeline. ranks: from RS.lanesOf. options: {operators: table columns by id for the hover, matched:
   * collectives joined over ranks or null, path: from RS.pathOf, laneHeight}. Returns {node, setRanks(list), view, zoomTo(t0, t1), eventsInView()}.
   */
  RS.timeline = (ranks, options) => {
    const all = { t0: 0, t1: 1 };
    for (const r of ranks) for (const l of r.lanes) all.t1 = Math.max(all.t1, l.at + l.span);
    const view = { t0: 0, t1: all.t1 };
    let shown = ranks.slice(0, 1);
    let lanes = [];
    let chosenLane = 0;
    let chosenEvent = -1;
    let mark = -1; // id of the name of a kernel or of an operator
    const isMarked = (lane, i) => lane.label[i] === mark || lane.op[i] === mark;
    const axis = el("canvas", { class: "axis", "aria-hidden": "true", style: `height: ${kAxis}px` });
    const canvas = el("canvas", { class: "lanes", tabindex: 0, role: "application", "aria-roledescription": "timeline",
      "aria-label": "timeline of the streams: arrows move, plus and minus zoom, 0 shows all, up and down choose a stream, comma and full stop step through its events" });
    const box = el("div", { class: "timeline" }, axis, canvas);
    const live = el("p", { class: "visually-hidden", "aria-live": "polite" });
    const node = el("div", {}, box, live);
    const laneHeight = () => (lanes.length > 12 ? 16 : lanes.length > 6 ? 22 : 34);
    const gap = 4;
    let rowTop = [];

    function arrange() {
      lanes = [...(options.path ? [options.path] : []), ...shown.flatMap((r) => r.lanes)];
      rowTop = [];
      let y = 4;
      let rank = null;
      for (const lane of lanes) {
        if (rank !== null && rank !== lane.rank) y += 6;
        rank = lane.rank;
        rowTop.push(y);
        y += laneHeight() + gap;
      }
      canvas.style.height = `${y + 4}px`;
      chosenLane = Math.min(chosenLane, Math.max(0, lanes.length - 1));
      draw();
    }

    const width = () => Math.max(50, canvas.clientWidth - kGutter);
    const x = (t) => kGutter + (t - view.t0) / (view.t1 - view.t0) * width();
    const timeAt = (px) => view.t0 + (px - kGutter) / width() * (view.t1 - view.t0);

    /** Returns [first, last) of the events that may touch the view. */
    const visible = (lane) => [lowerBound(lane.start, view.t0 - lane.longest), lowerBound(lane.start, view.t1)];
    /** Returns whether to draw a lane from columns, which are exact when zoomed out, instead of events. */
    const byColumns = (lane) => {
      if (!lane.columns) return false;
      const perPixel = (view.t1 - view.t0) / width();
      if (lane.n < lane.inTrace) return perPixel > lane.columns.width / 8;
      const [first, last] = visible(lane);
      return last - first > 3 * width() && perPixel >= lane.columns.width / 4;
    };

    /** Formats a time in the view with a resolution of a thousandth of the view's width. */
    const at = (t) => RS.clock(t, Math.max(1, (view.t1 - view.t0) / 1000));

    function niceStep(span, most) {
      const raw = span / most;
      const ten = 10 ** Math.floor(Math.log10(raw));
      return [1, 2, 5, 10].map((f) => f * ten).find((s) => s >= raw) || raw;
    }

    /** Draws times and steps into `g`, which stays in view when the page scrolls, and the lines of the times into `lines`. */
    function drawAxis(g, lines, w) {
      const span = view.t1 - view.t0;
      const step = niceStep(span, Math.max(2, w / 110));
      g.fillStyle = RS.colour("soft");
      g.strokeStyle = RS.colour("line");
      lines.strokeStyle = RS.colour("line");
      g.textBaseline = "alphabetic";
      g.textAlign = "left";
      for (let t = Math.ceil(view.t0 / step) * step; t <= view.t1; t += step) {
        const px = Math.round(x(t)) + 0.5;
        for (const [on, top, bottom] of [[g, 14, kAxis], [lines, 0, canvas.clientHeight]]) {
          on.globalAlpha = 0.5;
          on.beginPath();
          on.moveTo(px, top);
          on.lineTo(px, bottom);
          on.stroke();
          on.globalAlpha = 1;
        }
        g.fillText(RS.clock(Math.round(t), step), px + 3, 12);
      }
      for (const r of shown.slice(0, 1)) {
        let lastLabel = -1e9;
        for (const s of r.steps) {
          const a = Math.max(kGutter, x(s.start));
          const b = Math.min(kGutter + w, x(s.end));
          if (b <= a) continue;
          g.fillStyle = RS.colour("panel");
          g.fillRect(a, 18, b - a - 1, 14);
          g.strokeRect(a + 0.5, 18.5, b - a - 1, 13);
          const label = b - a > 60 ? `step ${s.step}` : String(s.step);
          if (b - a > 22 && a > lastLabel) {
            g.fillStyle = RS.colour("soft");
            g.fillText(label, a + 4, 29);
            lastLabel = a + 20;
          }
        }
      }
    }

    function drawColumns(g, lane, top, high, w, faint) {
      const c = lane.columns;
      const from = lane.at;
      const count = c.begun.length;
      g.globalAlpha = faint ? 0.3 : 1;
      const perPixel = (view.t1 - view.t0) / w;
      for (let px = 0; px < w; px++) {
        const a = (view.t0 + px * perPixel - from) / c.width;
        const b = a + perPixel / c.width;
        const first = Math.max(0, Math.floor(a));
        const last = Math.min(count - 1, Math.ceil(b) - 1);
        if (last < first) continue;
        let y = top + high;
        for (let k = 0; k < 4; k++) {
          let sum = 0;
          for (let i = first; i <= last; i++) sum += c.share[k][i] * (Math.min(b, i + 1) - Math.max(a, i));
          const h = sum / (b - a) / 255 * high;
          if (h < 0.2) continue;
          g.fillStyle = RS.colour(kKeys[k]);
          g.fillRect(kGutter + px, y - h, 1, h);
          y -= h;
        }
      }
      g.globalAlpha = 1;
    }

    function drawEvents(g, lane, top, high, w) {
      const [first, last] = visible(lane);
      const end = kGutter + w;
      const painted = kEventKeys.map(() => -1); // right end of the last box, by kind
      g.textBaseline = "middle";
      for (let i = first; i < last; i++) {
        const stop = lane.start[i] + lane.dur[i];
        if (stop < view.t0) continue;
        const a = Math.max(kGutter, x(lane.start[i]));
        const b = Math.min(end, Math.max(x(stop), a + 1));
        const kind = lane.kind[i];
        const marked = mark >= 0 && !lane.path && isMarked(lane, i);
        if (!marked && b <= painted[kind]) continue;
        painted[kind] = b;
        const wide = Math.max(1, b - a - (b - a > 3 ? 0.5 : 0));
        g.globalAlpha = mark >= 0 && !marked ? 0.35 : 1;
        if (kind === 1) {
          const covered = lane.hidden[i] / 100 * high;
          g.fillStyle = RS.colour("hidden");
          g.fillRect(a, top + high - covered, wide, covered);
          g.fillStyle = RS.colour("exposed");
          g.fillRect(a, top, wide, high - covered);
        } else {
          g.fillStyle = RS.colour(kEventKeys[kind]);
          g.fillRect(a, top, wide, high);
        }
        g.globalAlpha = 1;
        if (marked) {
          g.fillStyle = RS.colour("mark");
          g.fillRect(a, top - 3, Math.max(2, wide), 3);
        }
        if (wide > 44 && high > 14) {
          g.fillStyle = RS.colour("bg");
          g.save();
          g.beginPath();
          g.rect(a, top, wide, high);
          g.clip();
          g.fillText(RS.short(textOf(lane, i), Math.floor(wide / 6)), a + 4, top + high / 2);
          g.restore();
        }
      }
      if (mark >= 0 && !lane.path) markSpots(g, lane, first, last, top, w);
    }
    /** Returns the text in the box of an event. */
    function textOf(lane, i) {
      if (!lane.path) return RS.string(lane.label[i]);
      const what = RS.string(lane.what[i]) || RS.string(lane.label[i]);
      return ranks.length > 1 ? `rank ${lane.ofRank[i]}: ${what}` : what;
    }

    /** Draws a tick above the lane for each call of the marked kernel or operator, also if columns are shown. */
    function markSpots(g, lane, first, last, top, w) {
      g.fillStyle = RS.colour("mark");
      let painted = -1;
      for (let i = first; i < last; i++) {
        if (!isMarked(lane, i)) continue;
        const a = x(lane.start[i]);
        if (a < kGutter || a > kGutter + w || a < painted) continue;
        g.fillRect(a, top - 3, 2, 3);
        painted = a + 2;
      }
    }

    function drawMatched(g) {
      if (!options.matched || shown.length < 2) return;
      const m = options.matched;
      const place = new Map();
      lanes.forEach((lane, i) => { if (lane.path) return; if (lane.kinds === undefined) lane.kinds = lane.kind.includes(1); if (lane.kinds) place.set(lane.rank, i); });
      const high = laneHeight();
      // lines fade if they are close together, and do not cover the lanes of the collectives
      const apart = width() / Math.max(1, m.inView(view.t0, view.t1));
      if (apart < 8) return;
      g.strokeStyle = RS.colour("mark");
      g.lineWidth = 1;
      g.globalAlpha = Math.min(0.6, (apart - 8) / 40 + 0.1);
      m.each(view.t0, view.t1, (c) => {
        let previous = null;
        for (let k = m.first[c]; k < m.first[c + 1]; k++) {
          const lane = place.get(m.rankOf(k));
          if (lane === undefined) continue;
          const px = x(m.start[k]);
          const y = rowTop[lane];
          if (previous) {
            g.beginPath();
            g.moveTo(previous[0], previous[1] + high);
            g.lineTo(px, y);
            g.stroke();
          }
          previous = [px, y];
        }
      });
      g.globalAlpha = 1;
    }

    let queued = false;
    function draw() {
      if (queued) return;
      queued = true;
      requestAnimationFrame(() => { queued = false; paint(); });
    }
    /** Returns the context of a canvas that is filled with the background and scaled to pixels of the page. */
    function cleared(of) {
      const scale = devicePixelRatio || 1;
      of.width = Math.round(of.clientWidth * scale);
      of.height = Math.round(of.clientHeight * scale);
      const g = of.getContext("2d");
      g.scale(scale, scale);
      g.font = "11px system-ui, sans-serif";
      g.fillStyle = RS.colour("bg");
      g.fillRect(0, 0, of.clientWidth, of.clientHeight);
      return g;
    }
    function paint() {
      if (!canvas.isConnected || canvas.clientWidth === 0) return;
      const [g, head] = [canvas, axis].map(cleared);
      const w = width();
      drawAxis(head, g, w);
      const high = laneHeight();
      lanes.forEach((lane, i) => {
        const top = rowTop[i];
        g.fillStyle = RS.colour("panel");
        g.fillRect(kGutter, top, w, high);
        if (byColumns(lane)) {
          drawColumns(g, lane, top, high, w, false);
          if (mark >= 0) markSpots(g, lane, ...visible(lane), top, w);
        } else {
          if (lane.columns && lane.n < lane.inTrace) drawColumns(g, lane, top, high, w, true);
          drawEvents(g, lane, top, high, w);
        }
      });
      drawMatched(g);
      g.fillStyle = RS.colour("bg");
      g.fillRect(0, 0, kGutter, canvas.clientHeight);
      g.textBaseline = "middle";
      g.textAlign = "left";
      lanes.forEach((lane, i) => {
        g.fillStyle = i === chosenLane && document.activeElement === canvas ? RS.colour("accent") : RS.colour("fg");
        const rank = ranks.length > 1 && !lane.path ? `rank ${lane.rank} ` : "";
        g.fillText(RS.short(rank + lane.name, 21), 8, rowTop[i] + high / 2);
      });
      if (chosenEvent >= 0 && lanes[chosenLane]) {
        const lane = lanes[chosenLane];
        g.strokeStyle = RS.colour("mark");
        g.lineWidth = 2;
        const a = x(lane.start[chosenEvent]);
        g.strokeRect(a - 1, rowTop[chosenLane] - 1, Math.max(3, x(lane.start[chosenEvent] + lane.dur[chosenEvent]) - a + 2), high + 2);
      }
    }

    // ---- content under the pointer
    function laneAt(y) {
      return rowTop.findIndex((top) => y >= top - gap && y < top + laneHeight() + gap / 2);
    }
    function eventAt(lane, px) {
      const t = timeAt(px);
      const slack = 2 * (view.t1 - view.t0) / width();
      let best = -1;
      for (let i = lowerBound(lane.start, t + slack) - 1; i >= 0 && lane.start[i] >= t - lane.longest - slack; i--) {
        if (lane.start[i] + lane.dur[i] < t - slack) continue;
        const inside = lane.start[i] <= t && t <= lane.start[i] + lane.dur[i];
        if (inside) return i;
        if (best < 0) best = i;
      }
      return best;
    }
    function aboutEvent(lane, i) {
      if (lane.path)
        return RS.rows(`critical path: ${RS.string(lane.label[i])}`, [["what", RS.string(lane.what[i])], ["rank", ranks.length > 1 ? String(lane.ofRank[i]) : ""],
          ["starts", at(lane.start[i])], ["takes", `${RS.time(lane.dur[i])} (${RS.exact(lane.dur[i])} ns)`]]);
      const rows = [["stream", `${lane.name}${lane.device >= 0 ? `, device ${lane.device}` : ""}${ranks.length > 1 ? `, rank ${lane.rank}` : ""}`],
        ["starts", at(lane.start[i])], ["takes", `${RS.time(lane.dur[i])} (${RS.exact(lane.dur[i])} ns)`],
        ["operator", RS.string(lane.op[i])], [lane.kind[i] === 1 ? "moves" : "shapes", RS.string(lane.about[i])],
        ["launched", lane.delay[i] ? `${RS.time((lane.delay[i] - 1) * 100)} before` : ""]];
      if (lane.kind[i] === 1) rows.push(["hidden", `${lane.hidden[i]} % overlapped by computation`]);
      if (lane.row && lane.row[i] && options.operators) rows.push(...options.operators(lane.row[i] - 1, lane.dur[i]));
      if (lane.kind[i] === 1 && options.matched) rows.push(...options.matched.about(lane.rank, lane.start[i]));
      return RS.rows(RS.string(lane.label[i]), rows);
    }
    function aboutColumn(lane, px) {
      const c = lane.columns;
      const i = Math.floor((timeAt(px) - lane.at) / c.width);
      if (i < 0 || i >= c.begun.length) return null;
      const shares = kKeys.map((k, n) => [RS.kinds[n].label, c.share[n][i] ? RS.percent(c.share[n][i] / 2.55) : ""]);
      return RS.rows(`${lane.name}: ${at(lane.at + i * c.width)} for ${RS.time(c.width)}`,
        [...shares, ["longest", RS.string(c.longest[i])], ["begin here", `${RS.exact(c.begun[i])} events`]]);
    }
    function about(px, y) {
      const i = laneAt(y);
      if (i < 0 || px < kGutter) return null;
      const lane = lanes[i];
      if (byColumns(lane)) return aboutColumn(lane, px);
      const e = eventAt(lane, px);
      return e < 0 ? null : aboutEvent(lane, e);
    }

    // ---- moving and zooming
    let settle = 0;
    let wheeled = -Infinity; // time of the last move by the wheel: its notches are one gesture, with one history entry
    function moved(wheel) {
      draw();
      for (const call of moveListeners) call();
      clearTimeout(settle);
      const push = !wheel || performance.now() - wheeled > 1500;
      wheeled = wheel ? performance.now() : -Infinity;
      pushes = pushes || push;
      settle = setTimeout(() => {
        const whole = view.t0 <= 0 && view.t1 >= all.t1;
        RS.state.set({ t: whole ? "" : `${Math.round(view.t0)},${Math.round(view.t1)}` }, pushes);
        pushes = false;
      }, 250);
    }
    let pushes = false;
    const moveListeners = [];
    function show(t0, t1, wheel = false) {
      const least = 50; // ns
      const span = Math.min(all.t1, Math.max(least, t1 - t0));
      const start = Math.max(0, Math.min(all.t1 - span, t0));
      view.t0 = start;
      view.t1 = start + span;
      moved(wheel);
    }
    const zoom = (factor, px, wheel = false) => {
      const middle = timeAt(px);
      show(middle - (middle - view.t0) * factor, middle + (view.t1 - middle) * factor, wheel);
    };
    canvas.addEventListener("wheel", (e) => {
      if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
        e.preventDefault();
        const by = (e.deltaX || e.deltaY) / width() * (view.t1 - view.t0);
        show(view.t0 + by, view.t1 + by, true);
        return;
      }
      // the wheel scrolls the page if the timeline is higher than the window, or if it would zoom out of the full view
      if (!e.ctrlKey && !e.metaKey && (tall() || (e.deltaY > 0 && view.t0 <= 0 && view.t1 >= all.t1))) return;
      e.preventDefault();
      zoom(Math.exp(Math.max(-240, Math.min(240, e.deltaY)) * 0.0025), Math.max(kGutter, e.offsetX), true);
      RS.hideTip();
    }, { passive: false });

    const tall = () => canvas.clientHeight > 0.8 * innerHeight;
    const pointers = new Map();
    let drag = null;
    canvas.addEventListener("pointerdown", (e) => {
      pointers.set(e.pointerId, e.offsetX);
      canvas.setPointerCapture(e.pointerId);
      drag = { x: e.offsetX, t0: view.t0, t1: view.t1, far: false, two: null };
      if (pointers.size === 2) {
        const [a, b] = [...pointers.values()];
        drag.two = { width: Math.max(10, Math.abs(a - b)), at: timeAt((a + b) / 2) };
      }
      canvas.classList.add("drag");
    });
    canvas.addEventListener("pointermove", (e) => {
      if (pointers.has(e.pointerId)) pointers.set(e.pointerId, e.offsetX);
      if (drag && pointers.size === 2 && drag.two) {
        const [a, b] = [...pointers.values()];
        const factor = drag.two.width / Math.max(10, Math.abs(a - b));
        show(drag.two.at - (drag.two.at - drag.t0) * factor, drag.two.at + (drag.t1 - drag.two.at) * factor);
        return;
      }
      if (drag && pointers.size === 1) {
        if (Math.abs(e.offsetX - drag.x) > 3) drag.far = true;
        if (drag.far) {
          const by = (drag.x - e.offsetX) / width() * (drag.t1 - drag.t0);
          show(drag.t0 + by, drag.t1 + by);
          RS.hideTip();
          return;
        }
      }
      const content = about(e.offsetX, e.offsetY);
      if (content) RS.showTip(content, e.clientX, e.clientY);
      else RS.hideTip();
    });
    const up = (e) => {
      pointers.delete(e.pointerId);
      if (pointers.size > 0) return;
      canvas.classList.remove("drag");
      const was = drag;
      drag = null;
      if (!was || was.far || e.type === "pointercancel") return;
      const i = laneAt(e.offsetY);
      if (i < 0 || e.offsetX < kGutter) return;
      if (byColumns(lanes[i])) { // no individual events are shown
        zoom(0.125, e.offsetX);
        return;
      }
      const event = eventAt(lanes[i], e.offsetX);
      if (event >= 0) {
        chosenLane = i;
        chosenEvent = event;
        const { path, ofRank } = lanes[i];
        if (!path) RS.state.set({ k: RS.string(lanes[i].label[event]) });
        else if (ranks.length > 1) RS.state.set({ r: `${Math.max(0, ofRank[event] - 1)}-${ofRank[event] + 1}` });
        draw();
      }
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", RS.hideTip);
    canvas.addEventListener("dblclick", (e) => zoom(0.25, Math.max(kGutter, e.offsetX)));
    canvas.addEventListener("blur", draw);
    canvas.addEventListener("focus", draw);

    function step(by) {
      const lane = lanes[chosenLane];
      if (!lane || lane.n === 0) return;
      if (chosenEvent < 0 || lane.start[chosenEvent] > view.t1 || lane.start[chosenEvent] + lane.dur[chosenEvent] < view.t0)
        chosenEvent = Math.min(lane.n - 1, lowerBound(lane.start, view.t0));
      else chosenEvent = Math.max(0, Math.min(lane.n - 1, chosenEvent + by));
      const t = lane.start[chosenEvent];
      const span = view.t1 - view.t0;
      if (t < view.t0 || t > view.t1) show(t - span / 2, t + span / 2);
      const content = aboutEvent(lane, chosenEvent);
      live.textContent = content.innerText || content.textContent;
      const rect = canvas.getBoundingClientRect();
      RS.showTip(content, rect.left + Math.min(canvas.clientWidth - 20, Math.max(kGutter, x(t))), rect.top + rowTop[chosenLane] + laneHeight());
      draw();
    }
    canvas.addEventListener("keydown", (e) => {
      const span = view.t1 - view.t0;
      const middle = kGutter + width() / 2;
      const keys = {
        ArrowLeft: () => show(view.t0 - span / 5, view.t1 - span / 5), ArrowRight: () => show(view.t0 + span / 5, view.t1 + span / 5),
        "+": () => zoom(0.5, middle), "=": () => zoom(0.5, middle), "-": () => zoom(2, middle), 0: () => show(0, all.t1),
        ArrowUp: () => { chosenLane = Math.max(0, chosenLane - 1); chosenEvent = -1; live.textContent = lanes[chosenLane]?.name ?? ""; draw(); },
        ArrowDown: () => { chosenLane = Math.min(lanes.length - 1, chosenLane + 1); chosenEvent = -1; live.textContent = lanes[chosenLane]?.name ?? ""; draw(); },
        ".": () => step(1), ",": () => step(-1), Escape: () => RS.hideTip(),
      };
      if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      keys[e.key]();
    });

    RS.state.on(["t"], () => {
      const [a, b] = RS.state.get("t").split(",").map(Number);
      if (Number.isFinite(a) && Number.isFinite(b) && b > a) {
        if (Math.round(view.t0) === a && Math.round(view.t1) === b) return;
        view.t0 = Math.max(0, a);
        view.t1 = Math.min(all.t1, b);
        if (view.t1 <= view.t0) { view.t0 = 0; view.t1 = all.t1; }
      } else {
        view.t0 = 0;
        view.t1 = all.t1;
      }
      clearTimeout(settle);
      draw();
      for (const call of moveListeners) call();
    });
    RS.state.on(["k"], () => {
      const name = RS.state.get("k");
      mark = name ? RS.data.strings.indexOf(name) : -1;
      draw();
    });
    RS.onTheme(draw);
    RS.onPrint(paint);
    new ResizeObserver(() => {
      axis.style.top = `${document.querySelector("nav")?.offsetHeight ?? 0}px`; // below the menu, which stays in view too
      draw();
    }).observe(box);
    arrange();

    return {
      node, view, all, canvas, at,
      onMove: (call) => moveListeners.push(call),
      zoomTo: (t0, t1) => show(t0, t1),
      showAll: () => show(0, all.t1),
      zoomBy: (factor) => zoom(factor, kGutter + width() / 2),
      setRanks(list) {
        shown = ranks.filter((r) => list.includes(r.rank));
        arrange();
      },
      /** Returns [lane, index] of the longest `most` events of the shown lanes that touch the view. */
      eventsInView(most) {
        const out = [];
        for (const lane of lanes.filter((l) => !l.path)) {
          const [first, last] = visible(lane);
          for (let i = first; i < last; i++) if (lane.start[i] + lane.dur[i] >= view.t0) out.push([lane, i]);
        }
        out.sort((a, b) => b[0].dur[b[1]] - a[0].dur[a[1]]);
        return out.slice(0, most);
      },
      /** Returns the number of calls of the marked kernel or operator on the page, in all lanes of its ranks. */
      markedCalls: () => (mark < 0 ? 0 : ranks.reduce((n, r) => n + r.lanes.reduce((m, l) => m + l.label.reduce((o, _, i) => o + (isMarked(l, i) ? 1 : 0), 0), 0), 0)),
      tall,
      kept: () => lanes.reduce((n, l) => n + (l.path ? 0 : l.n), 0),
      inTrace: () => lanes.reduce((n, l) => n + (l.path ? 0 : l.inTrace), 0),
      x: (t) => x(t), laneTop: (i) => rowTop[i], laneHeight,
    };
  };
})();
