// Tables of any length: only visible rows are in the document. A click on a header sorts, words filter, and
// a button copies as CSV; the tooltip of a header explains its column.
(() => {
  const kRow = 26; // pixels, as in page.css
  const { el } = RS;

  /** The tables of the page. A print shows only the first rows of each. */
  const grids = new Set();
  RS.onPrint((on) => { for (const grid of grids) grid.print(on); });

  /** Returns the columns of a table of the blob: {id, label, help, text, value(row), show(row)}. */
  RS.columnsOf = (table) => table.columns.map((c) => {
    const cells = RS.array(c.data);
    const textual = c.kind === "text";
    return {
      id: c.id, label: c.label, help: c.help, text: textual, status: c.status, delta: c.delta,
      value: textual ? (r) => RS.string(cells[r]) : (r) => cells[r],
      show: textual ? (r) => RS.string(cells[r])
        : c.kind === "bool" ? (r) => (cells[r] === 1 ? "yes" : "")
        : c.kind === "int" ? (r) => (Number.isFinite(cells[r]) ? RS.exact(cells[r]) : "") : (r) => RS.num(cells[r]),
    };
  });

  const widthOf = (c) => c.width || (c.text ? 200 : Math.max(80, 32 + 7.2 * c.label.length));

  const csvCell = (v) => {
    const text = v === null || v === undefined || (typeof v === "number" && !Number.isFinite(v)) ? "" : String(v);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  /**
   * Makes a table. A column with a short form show(row) may have full(row), for its tooltip and for the filter.
   * options: {name, columns, rows, widths (by id), sort: [id, descending], onRow(row), key: state key of the
   * filter, selected(row), height}. Returns {node, filter(text), refresh()}.
   */
  RS.grid = (options) => {
    const { columns } = options;
    let order = [];
    let sort = options.sort || null;
    let words = [];
    const status = el("span", { class: "sub", role: "status" });
    const body = el("tbody");
    const before = el("tr", { "aria-hidden": "true" });
    const after = el("tr", { "aria-hidden": "true" });
    const headers = columns.map((c) => {
      const th = el("th", { class: c.text ? "text" : "", scope: "col", style: `width:${widthOf(c)}px` },
        el("button", { type: "button", title: c.help ? `${c.label}: ${c.help}` : c.label, onclick: () => sortBy(c.id) }, c.label));
      return th;
    });
    const table = el("table", { "aria-rowcount": options.rows + 1, style: `min-width:${columns.reduce((n, c) => n + widthOf(c), 0)}px` },
      el("caption", { class: "visually-hidden" }, options.name),
      el("thead", {}, el("tr", {}, headers)), body);
    const box = el("div", { class: "grid-box", tabindex: 0, role: "region", "aria-label": options.name }, table);
    const input = el("input", {
      type: "search", placeholder: "filter: words in any column", "aria-label": `filter ${options.name}`,
      oninput: () => { if (options.key) RS.state.set({ [options.key]: input.value }, false); else filter(input.value); },
    });
    const copy = el("button", { type: "button", onclick: () => copyCsv() }, "copy as CSV");
    const more = el("p", { class: "sub" });
    const node = el("div", {}, el("div", { class: "bar" }, input, status, el("span", { class: "grow" }), copy), box, more);

    const compare = (column) => (a, b) => {
      const x = column.value(a);
      const y = column.value(b);
      if (column.text) return x < y ? -1 : x > y ? 1 : a - b;
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) ? (Number.isNaN(y) ? a - b : 1) : -1;
      return x - y || a - b;
    };
    function arrange() {
      order = [];
      for (let r = 0; r < options.rows; r++) {
        if (words.length === 0) { order.push(r); continue; }
        let text = "";
        for (const c of columns) text += `${c.show(r)}\n${c.full ? c.full(r) : ""}\n`;
        text = text.toLowerCase();
        if (words.every((w) => text.includes(w))) order.push(r);
      }
      if (sort) {
        const column = columns.find((c) => c.id === sort[0]);
        if (column) {
          const by = compare(column);
          // blank cells stay at the end in both directions
          order.sort((a, b) => {
            const blank = !column.text && (Number.isNaN(column.value(a)) || Number.isNaN(column.value(b)));
            return sort[1] && !blank ? by(b, a) : by(a, b);
          });
        }
      }
      headers.forEach((th, i) => {
        const mine = sort && columns[i].id === sort[0];
        th.setAttribute("aria-sort", mine ? (sort[1] ? "descending" : "ascending") : "none");
        th.firstChild.textContent = columns[i].label + (mine ? (sort[1] ? " \u25be" : " \u25b4") : "");
      });
      status.textContent = order.length === options.rows ? `${RS.exact(options.rows)} rows`
        : `${RS.exact(order.length)} of ${RS.exact(options.rows)} rows`;
      if (options.fit) box.style.height = `${Math.min(options.rows * kRow + 52, 420)}px`;
      draw();
    }
    function sortBy(id) {
      const column = columns.find((c) => c.id === id);
      sort = sort && sort[0] === id ? [id, !sort[1]] : [id, !column.text];
      box.scrollTop = 0;
      arrange();
    }
    function filter(text) {
      words = text.toLowerCase().split(/\s+/).filter(Boolean);
      if (input.value !== text) input.value = text;
      box.scrollTop = 0;
      arrange();
    }
    function rowOf(r, place) {
      const chosen = options.selected ? options.selected(r) : false;
      const tr = el("tr", {
        tabindex: options.onRow ? 0 : null, "aria-rowindex": place + 2, "aria-selected": options.selected ? String(chosen) : null,
        onclick: options.onRow ? () => options.onRow(r) : null,
        onkeydown: options.onRow ? (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); options.onRow(r); } } : null,
      });
      for (const c of columns.slice(0, fits)) {
        const value = c.value(r);
        const shown = c.show(r);
        tr.append(el("td", { class: [c.text ? "text" : "", c.tone ? c.tone(r) : ""].join(" ").trim() || null,
          title: c.full ? c.full(r) : c.text ? (shown.length > 24 ? shown : null) : (Number.isFinite(value) ? String(value) : null) }, shown));
      }
      return tr;
    }
    let printing = false;
    let fits = columns.length; // number of columns in the document: on paper, those that fit
    function print(on) {
      let room = 700;
      printing = on;
      fits = on ? columns.findIndex((c) => { room -= c.text ? 110 : 44; return room < 0; }) : -1;
      if (fits < 0) fits = columns.length;
      headers.forEach((th, i) => { th.hidden = i >= fits; });
      const hidden = [[columns.length - fits, "columns"], [order.length - 40, "rows"]].filter(([n]) => n > 0);
      more.textContent = on && hidden.length ? `${hidden.map(([n, what]) => `${RS.exact(n)} more ${what}`).join(" and ")} in the page` : "";
      draw();
    }
    function draw() {
      if (mine && box.isConnected) mine.seen = true;
      const high = box.clientHeight || 420;
      const first = printing ? 0 : Math.max(0, Math.floor(box.scrollTop / kRow) - 8);
      const last = printing ? Math.min(order.length, 40) : Math.min(order.length, first + Math.ceil(high / kRow) + 16);
      const rows = [];
      before.style.height = `${first * kRow}px`;
      after.style.height = `${printing ? 0 : (order.length - last) * kRow}px`;
      rows.push(before);
      for (let i = first; i < last; i++) rows.push(rowOf(order[i], i));
      rows.push(after);
      const focused = body.contains(document.activeElement) ? document.activeElement.getAttribute("aria-rowindex") : null;
      body.replaceChildren(...rows);
      if (focused) body.querySelector(`[aria-rowindex="${focused}"]`)?.focus({ preventScroll: true });
    }
    let waiting = false;
    box.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; draw(); });
    });
    new ResizeObserver(() => draw()).observe(box);
    for (const grid of grids) if (grid.seen && !grid.box.isConnected) grids.delete(grid); // replaced by another
    const mine = { box, seen: false, print };
    grids.add(mine);

    async function copyCsv() {
      const lines = [columns.map((c) => csvCell(c.label)).join(",")];
      for (const r of order) lines.push(columns.map((c) => csvCell(c.value(r))).join(","));
      const text = `${lines.join("\n")}\n`;
      node.dataset.csv = String(text.length);
      await RS.copyText(text);
      copy.textContent = `${RS.exact(order.length)} rows copied`;
      setTimeout(() => { copy.textContent = "copy as CSV"; }, 1500);
    }
    arrange();
    if (options.key) RS.state.on([options.key], () => filter(RS.state.get(options.key)));
    return { node, filter, refresh: draw };
  };
})();
