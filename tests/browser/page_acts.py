#!/usr/bin/env python3
"""Opens a page of `rankscope page` in headless Chromium and acts like a person: hovers, zooms, filters,
sorts, marks, goes back, changes the theme, prints. Prints what fails; exit 1 then, 3 without a driver.

Usage: page_acts.py KIND PAGE.html [PICTURES]      KIND: run, ranks, sweep, comparison, lost or history
Standard library only: chromedriver is spoken to over HTTP (W3C WebDriver).
"""
import base64
import html
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"left": "\ue012", "right": "\ue014", "enter": "\ue007"}


class Browser:
    def __init__(self, folder):
        # the port that it finds free may be another's when it takes it: then it ends
        for _ in range(5):
            port = self.start_driver()
            if port:
                break
        self.base = f"http://127.0.0.1:{port}"
        options = {"args": ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                            "--disable-component-update", "--no-first-run", f"--user-data-dir={folder}"]}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += "/session/" + answer["sessionId"]

    def start_driver(self):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return line.rstrip(". \n").rsplit(" ", 1)[1]
        self.driver.wait()
        return None

    def call(self, method, path, body=None):
        data = None if body is None and method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method,
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def js(self, script, *args):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(args)})

    def until(self, script, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.js(script)
            if value:
                return value
            time.sleep(0.05)
        return None

    def size(self, width, height):
        self.call("POST", "/window/rect", {"width": width, "height": height})

    def pointer(self, *actions):
        self.call("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": list(actions)}]})

    def hover(self, x, y):
        self.pointer({"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0},
                     {"type": "pointerMove", "x": int(x) + 1, "y": int(y), "duration": 20})

    def click(self, x, y):
        self.pointer({"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0},
                     {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})

    def drag(self, x, y, by):
        self.pointer({"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}, {"type": "pointerDown", "button": 0},
                     {"type": "pointerMove", "x": int(x + by / 2), "y": int(y), "duration": 20},
                     {"type": "pointerMove", "x": int(x + by), "y": int(y), "duration": 20}, {"type": "pointerUp", "button": 0})

    def wheel(self, x, y, by):
        self.call("POST", "/actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": int(x), "y": int(y), "deltaX": 0, "deltaY": by, "duration": 0, "origin": "viewport"}]}]})

    def keys(self, text):
        actions = [a for key in text for a in ({"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def at(self, selector, fx=0.5, fy=0.5):
        """A place in an element, scrolled into sight: [x, y]."""
        return self.js("""const e = document.querySelector(arguments[0]); e.scrollIntoView({block: "center"});
            const r = e.getBoundingClientRect(); return [r.left + r.width * arguments[1], r.top + r.height * arguments[2]];""",
                       selector, fx, fy)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def errors(self):
        return [e["message"] for e in self.call("POST", "/se/log", {"type": "browser"}) if e["level"] in ("SEVERE", "WARNING")]

    def end(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()


failed = []


def check(value, what):
    if not value:
        failed.append(what)
        print(f"failed: {what}")


def tip(b):
    return b.js("const t = document.getElementById('tip'); return t.hidden ? '' : t.innerText")


def act_on_timeline(b):
    x, y = b.at("#timeline canvas.lanes", 0.5, 0.7)
    before = b.js("return location.hash")
    b.hover(x, y)
    first = tip(b)
    entries = b.js("return history.length")
    for _ in range(6):
        b.wheel(x, y, -100)
    check(b.until("return location.hash.includes('t=')", 5), "zooming puts the view into the address")
    time.sleep(0.4)
    check(b.js("return history.length") == entries + 1, "a gesture of the wheel is one entry of the history")
    near = b.js("return location.hash")
    b.js("const c = document.querySelector('#timeline canvas.lanes'); c.focus(); return 1")
    b.keys("+")
    b.until(f"return location.hash !== {json.dumps(near)}", 5)
    nearer = b.js("return location.hash")
    check(nearer != near, "zooming again")
    view = [float(v) for v in b.js("return RS.state.get('t')").split(",")]
    b.drag(x, y, -120)
    b.until(f"return location.hash !== {json.dumps(nearer)}", 5)
    moved = [float(v) for v in b.js("return RS.state.get('t')").split(",")]
    check(moved[0] > view[0] and abs((moved[1] - moved[0]) - (view[1] - view[0])) < 2, "dragging moves the view and keeps its width")
    b.call("POST", "/back")
    check(b.until(f"return location.hash === {json.dumps(nearer)}", 5), "back goes to the view before the drag")
    b.call("POST", "/back")
    b.call("POST", "/back")
    check(b.until(f"return location.hash === {json.dumps(before)}", 5), "back three times shows all again")
    b.call("POST", "/forward")
    b.until(f"return location.hash === {json.dumps(near)}", 5)
    check(b.js("""for (const step of [1, 5, 200, 1e4, 2e5, 1e7])
        for (const t of [0, 485e3, 600.12e6, 3.5e9]) if (RS.clock(t, step) === RS.clock(t + step, step)) return false;
        return RS.clock(600123000, 1000) === "600.123 ms";"""), "neighbours on the time axis have different labels")
    # something is under the pointer somewhere in every lane
    found = first
    for part in (0.2, 0.35, 0.5, 0.65, 0.8):
        for lane in (0.4, 0.55, 0.7, 0.85):
            x, y = b.at("#timeline canvas.lanes", part, lane)
            b.hover(x, y)
            found = found or tip(b)
    check("takes" in found or "longest" in found, f"hovering tells of an event: {found[:80]!r}")
    b.js("const c = document.querySelector('#timeline canvas.lanes'); c.focus(); return 1")
    b.keys("0")
    b.until("return !location.hash.includes('t=')", 5)
    b.keys(".")
    told = b.js("return document.querySelector('#timeline [aria-live]').textContent")
    check("takes" in told, "a key steps to an event and says it")
    b.keys("+")
    check(b.until("return location.hash.includes('t=')", 5), "a key zooms")
    b.keys("0")
    b.until("return !location.hash.includes('t=')", 5)


def act_on_table(b, section):
    rows = f"document.querySelectorAll('#{section} .grid-box tbody tr:not([aria-hidden])')"
    all_rows = b.js(f"return document.querySelector('#{section} [role=status]').textContent")
    check(b.js(f"return {rows}.length") > 0, f"{section}: rows")
    check(b.js(f"return {rows}.length") < 60, f"{section}: only rows in sight are in the document")
    x, y = b.at(f"#{section} .grid-box th:nth-child(3) button")
    b.click(x, y)
    check(b.js(f"return document.querySelector('#{section} th:nth-child(3)').getAttribute('aria-sort')") != "none", f"{section}: sorts")
    order = "const v = [...%s].map(r => parseFloat(r.children[2].title || r.children[2].textContent)).filter(Number.isFinite);" % rows
    check(b.js(order + "return v.every((n, i) => i === 0 || v[i-1] >= n)"), f"{section}: most first")
    b.click(x, y)
    check(b.js(order + "return v.every((n, i) => i === 0 || v[i-1] <= n)"), f"{section}: least first")
    help_text = b.js(f"return document.querySelector('#{section} th button').title")
    check(": " in help_text, f"{section}: a header says what the column means")
    word = b.js(f"return {rows}[0].children[0].textContent").split(" ")[0][:12]
    x, y = b.at(f"#{section} input[type=search]")
    b.click(x, y)
    b.keys(word)
    shown = b.js(f"return document.querySelector('#{section} [role=status]').textContent")
    check(b.js(f"return [...{rows}].every(r => r.innerText.toLowerCase().includes({json.dumps(word.lower())}) || r.children[0].textContent.toLowerCase().includes({json.dumps(word.lower())}))"),
          f"{section}: the filter keeps what has the word")
    b.keys("zzqqzz")
    check(b.js(f"return {rows}.length") == 0, f"{section}: a filter without a hit shows no row")
    x, y = b.at(f"#{section} input[type=search]")
    b.js(f"const i = document.querySelector('#{section} input[type=search]'); i.value=''; i.dispatchEvent(new Event('input')); return 1")
    check(b.js(f"return document.querySelector('#{section} [role=status]').textContent") == all_rows, f"{section}: all rows again after {shown}")
    b.js(f"[...document.querySelectorAll('#{section} button')].find(e => e.textContent === 'copy as CSV').click(); return 1")
    check(b.until(f"return +document.querySelector('#{section} [data-csv]')?.dataset.csv > 10", 5), f"{section}: copies as CSV")


def act_on_marks(b):
    b.js("document.querySelector('#kernels .grid-box tbody tr[tabindex]').focus(); return 1")
    b.keys(KEYS["enter"])
    check(b.js("return RS.state.get('k') !== ''"), "a row of the kernels marks its calls")
    check(b.js("return document.querySelector('#kernels tr[aria-selected=true]') !== null"), "the row shows that it is marked")
    check(b.js("return document.activeElement.getAttribute('aria-selected')") == "true", "the row keeps the focus")
    check(b.js("return document.querySelector('#kernels [aria-live]').textContent.includes('calls are marked')"), "a sentence says what is marked")
    check(b.js("return document.querySelector('#kernels tr[aria-selected=true] td').title === RS.state.get('k')"), "the full name of a kernel is its tooltip")
    b.call("POST", "/back")
    check(b.until("return RS.state.get('k') === ''", 5), "back unmarks")


def act_on_findings(b, kind):
    colours = b.js("""return [...document.querySelectorAll('#overview .strip > div')].map(e => getComputedStyle(e).backgroundColor)""")
    check(len(colours) == len(set(colours)), f"the parts of the time have different colours: {colours}")
    check(b.js("return document.querySelectorAll('#overview .next button').length === document.querySelectorAll('#overview .next code').length"),
          "next commands can be copied")
    if kind == "ranks":
        check(b.js("const e = document.querySelector('#overview .findings button'); if (e) e.click(); return e !== null"), "a finding has a place")
        check(b.until("return RS.state.get('t') !== '' && RS.state.get('r') !== ''", 5), "a finding leads to its place in the timeline")
        b.call("POST", "/back")
        b.until("return RS.state.get('t') === ''", 5)


def act_on_drawn(b, kind):
    if kind == "run" and b.js("return document.querySelector('#roofline') !== null"):
        least, most = b.js("""const chart = RS.chartOf(document.querySelector('#roofline .chart'));
            const y = chart.getOption().yAxis[0]; return [y.min, y.max];""")
        check(least >= most / 1e5, f"the roofline leaves out what is far below it: {least} to {most}")
    if kind == "ranks":
        b.js("""const c = document.querySelector('canvas.lanes');
            c.scrollIntoView();
            scrollBy(0, c.clientHeight / 2);
            return 1""")
        check(b.until("""return Math.abs(document.querySelector('canvas.axis').getBoundingClientRect().top
            - document.querySelector('nav').getBoundingClientRect().bottom) < 2""", 5), "the time axis stays in view below the menu")
        b.js("document.querySelector('#operators .grid-box tbody tr[tabindex]').focus(); return 1")
        b.keys(KEYS["enter"])
        check(b.js("return document.querySelector('#operators [aria-live]').textContent.includes('calls are marked')"),
              "a row of the operators marks its calls")
        b.js("RS.state.set({ k: '' }); scrollTo(0, 0); return 1")
        check(b.js("""document.activeElement.blur();
            const c = document.querySelector('canvas.lanes');
            const copy = Object.assign(document.createElement('canvas'), { width: c.width, height: c.height });
            const g = copy.getContext('2d', { willReadFrequently: true });
            g.drawImage(c, 0, 0);
            const d = g.getImageData(0, 0, c.width, c.height).data;
            for (let i = 0; i < d.length; i += 4) if (d[i] === 0x24 && d[i + 1] === 0x57 && d[i + 2] === 0xc5) return false;
            return true;"""), "lines of collectives have no colour of a kind of work")
        lane = b.js("return 12 / document.querySelector('#timeline canvas.lanes').clientHeight") # the first one
        b.hover(*b.at("#timeline canvas.lanes", 0.5, lane))
        check("critical path" in tip(b) and "rank" in tip(b), f"the first lane is the critical path: {tip(b)[:80]!r}")


def act_on_paper(b):
    """What a browser does before and after it prints."""
    wide = b.js("return document.body.clientWidth")
    b.js("dispatchEvent(new Event('beforeprint')); return 1")
    check(b.js("return [...document.querySelectorAll('.chart svg, .chart canvas, .timeline canvas')].every(e => e.getBoundingClientRect().right <= 701)"),
          "paper: no chart is wider than the sheet")
    b.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"media": "print"}})
    wide_tables = b.js("""return [...document.querySelectorAll('.grid-box table')].filter(e => e.getBoundingClientRect().right > 701)
        .map(e => e.caption.textContent)""")
    check(wide_tables == [], f"paper: no table is wider than the sheet: {wide_tables}")
    check(b.js("""return [...document.querySelectorAll('.grid-box td:not(.text)')].every(e => {
        const text = document.createRange();
        text.selectNodeContents(e);
        return text.getClientRects().length < 2; })"""), "paper: no number is broken")
    b.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"media": ""}})
    check(b.js("""return [...document.querySelectorAll('.chart canvas, .timeline canvas')].every(c => {
        const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
        return d.some(v => v !== d[0]); })"""), "paper: no picture is empty")
    b.js("dispatchEvent(new Event('afterprint')); return 1")
    check(b.js("return document.body.clientWidth") == wide, "paper: the window is as before")


def act_on_sweep(b):
    check(b.js("return document.querySelectorAll('#gemm-calls .chart svg path').length") > 2, "gemms: calls over time")
    title = b.js("return document.querySelector('#gemm-calls h3').textContent")
    b.js("document.querySelector('#gemm-calls button').click(); return 1")
    check(b.js("return document.querySelectorAll('#gemm-calls .grid-box tbody tr').length") > 2, "gemms: the calls as a table")
    b.js("document.querySelectorAll('#gemms > div:last-child .grid-box tbody tr')[2].click(); return 1")
    check(b.js("return RS.state.get('p')") == "1", "gemms: the address holds the row")
    check(b.js("return document.querySelector('#gemm-calls h3').textContent") != title, "gemms: another row, other calls")
    marks = "return RS.chartOf(document.querySelector('#bandwidth .chart')).getOption().xAxis[0].type"
    check(b.js(marks) == "log", "bandwidth: by size")
    chosen = b.js("const s = document.querySelectorAll('#bandwidth select')[1]; s.value = s.options[1].value; s.dispatchEvent(new Event('change')); return s.value")
    check(b.js(marks) == "category" and chosen in b.js("return decodeURIComponent(location.hash)"), "bandwidth: by a parameter")


def act_on_whole(b, pictures, name):
    check(b.js("return RS.chartCount() === document.querySelectorAll('.chart').length"), "every chart is drawn")
    check(b.js("return [...document.querySelectorAll('.chart')].every(c => c.getAttribute('aria-label') && c.querySelector('svg, canvas'))"),
          "every chart has a label and a picture")
    check(b.js("return [...document.querySelectorAll('button, input, select')].every(e => (e.getAttribute('aria-label') || e.title || e.textContent || '').trim())"),
          "every control has a name")
    links = b.js("return [...document.querySelectorAll('nav a')].map(e => e.textContent)")
    check(b.js("return document.querySelectorAll('section').length") == len(set(links)), f"the bar leads to every part, by different names: {links}")
    check(b.js("return document.title.endsWith(' - rankscope') && document.title.split('/').length < 4"), "the tab has a short name")
    check(b.js("return document.querySelector('#foot').innerText.includes('Apache License')"), "the licence of the charts is named")
    ids = b.js("const n = [...document.querySelectorAll('[id]')].map(e => e.id); return n.length === new Set(n).size")
    check(ids, "no id stands twice")
    light = b.js("return getComputedStyle(document.body).backgroundColor")
    b.js("document.getElementById('theme').click(); return 1")
    dark = b.js("return getComputedStyle(document.body).backgroundColor")
    check(light != dark, "the theme changes")
    check(b.js("return RS.state.get('theme') !== ''"), "the theme is in the address")
    b.js("document.getElementById('theme').click(); return 1")
    for width in (1400, 900, 400):
        b.size(width, 900)
        time.sleep(0.3)
        check(b.js("return document.documentElement.scrollWidth <= innerWidth + 1"), f"nothing is wider than the window at {width}")
        if pictures:
            for theme in ("light", "dark"):
                b.js("RS.state.set({theme: arguments[0]}, false); return 1", theme)
                time.sleep(0.2)
                height = b.js("return document.documentElement.scrollHeight")
                b.size(width, min(height + 140, 6000))
                time.sleep(0.4)
                b.picture(pictures / f"{name}_{width}_{theme}.png")
                b.size(width, 900)
    b.size(1400, 900)
    pdf = base64.b64decode(b.call("POST", "/print", {}))
    check(pdf[:4] == b"%PDF" and len(pdf) > 10000, "prints")
    if pictures:
        (pictures / f"{name}.pdf").write_bytes(pdf)
    check(b.js("return window.broken === undefined"), "no text of the data ran as a script")
    check(b.js("return document.querySelectorAll('img, iframe, object, embed, link').length === 0"), "no text of the data became an element")
    check(b.js("return performance.getEntriesByType('resource').filter(e => !e.name.startsWith('blob:') && !e.name.startsWith('data:')).length") == 0, "nothing is loaded")


def act_in_a_frame(b, page, folder):
    """As a notebook shows the page: in a sandboxed frame, which has no address."""
    frame = pathlib.Path(folder) / "frame.html"
    frame.write_text(f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(page.read_text())}"></iframe>')
    b.call("POST", "/url", {"url": frame.as_uri()})
    b.call("POST", "/frame", {"id": b.call("POST", "/element", {"using": "css selector", "value": "iframe"})})
    check(b.until("return document.documentElement.dataset.ready || ''", 60), "frame: the page opens")
    told = b.js("""let told = 0; RS.state.on(["in_a_frame"], () => ++told); RS.state.set({in_a_frame: "1"});
        return [told, RS.state.get("in_a_frame")];""")
    check(told == [2, "1"], f"frame: a change of state reaches its listeners: {told}")


def main():
    kind, page = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    pictures = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    if not shutil.which("chromedriver"):
        print("chromedriver is not installed")
        return 3
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        b = Browser(folder)
        try:
            b.size(1400, 900)
            begun = time.monotonic()
            b.call("POST", "/url", {"url": page.as_uri()})
            ready = b.until("return document.documentElement.dataset.ready || ''", 60)
            print(f"{page.name}: ready after {ready} ms of the page, {1000 * (time.monotonic() - begun):.0f} ms in all")
            if not check(ready, "the page opens") and not ready:
                print(b.errors())
                return 1
            if kind in ("run", "ranks"):
                act_on_timeline(b)
                act_on_table(b, "kernels")
                act_on_marks(b)
                act_on_findings(b, kind)
                act_on_drawn(b, kind)
            if kind == "history":
                act_on_table(b, "figures")
                check(b.js("return document.querySelectorAll('#series .chart svg').length") == 1, "history: a series")
                check(b.js("return document.querySelectorAll('#changes .grid-box tbody tr').length") > 0, "history: changes")
                chosen = b.js("const s = document.querySelector('#series select'); s.value = s.options[1].value; s.dispatchEvent(new Event('change')); return s.value")
                check(chosen in b.js("return decodeURIComponent(location.hash)"), "history: the address holds the figure")
            if kind == "sweep":
                act_on_sweep(b)
            if kind == "lost":
                check(b.js("return document.querySelector('#collectives .grid-box') === null"), "lost: the first test has no collectives")
                b.js("const s = document.querySelector('#verdicts select'); s.value = '1'; s.dispatchEvent(new Event('change'))")
                check(b.js("return document.querySelectorAll('#collectives .grid-box tbody tr').length") > 0, "lost: the second test has collectives")
            if kind == "comparison":
                act_on_table(b, "verdicts")
                check(b.js("return document.querySelectorAll('#changed .grid-box tbody tr').length") > 3, "changed: rows")
                check(b.js("return document.querySelectorAll('#changed .findings li').length") > 0, "changed: sentences")
                check(b.js("""return [...document.querySelectorAll('#changed .grid-box td:nth-child(3)')].every(e => e.textContent.length <= 80)"""),
                      "changed: names are short")
            act_on_whole(b, pictures, kind)
            act_on_paper(b)
            act_in_a_frame(b, page, folder)
            for error in b.errors():
                check(False, f"console: {error}")
        finally:
            b.end()
    print(f"{len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
