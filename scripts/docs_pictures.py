#!/usr/bin/env python3
"""Makes the screenshots in docs/pictures: sections of pages of a generated sweep in a browser. Run this script
after a change of the pages, and look at the screenshots before you commit them.

Usage: scripts/docs_pictures.py [RANKSCOPE]     (default: build/release/rankscope); needs chromium and its driver
"""
import base64
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "browser"))
from page_acts import ELEMENT, Browser  # noqa: E402

PICTURES = [  # page, section, name
    ("run.html", "timeline", "timeline"),
    ("sweep.html", "surface", "sweep"),
    ("compare.html", "changed", "compare"),
]


def pages(program, work):
    def run(*words):
        subprocess.run([program, "-q", *words], cwd=work, check=True, stdout=subprocess.DEVNULL)

    run("synth", "sweep", "--ranks", "8", "--threads", "256,512", "--channels", "28,56", "--layers", "4", "--steps", "5",
        "--straggler", "3")
    run("page", "sweep/256thread/nccl_28channels", "-o", "run.html")
    run("page", "sweep", "-o", "sweep.html")
    run("page", "--baseline", "sweep/256thread/nccl_28channels", "--test", "sweep/256thread/nccl_56channels", "-o", "compare.html")


def main():
    program = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/rankscope").resolve()
    target = ROOT / "docs" / "pictures"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        pages(program, work)
        browser = Browser(work + "/profile")
        try:
            browser.size(1100, 900)
            for page, section, name in PICTURES:
                browser.call("POST", "/url", {"url": f"file://{work}/{page}"})
                browser.until(f"return document.querySelector('#{section}') && !document.querySelector('#loading')", 10)
                browser.js(f"document.querySelector('#{section}').scrollIntoView()")
                browser.until("return window.slept || void setTimeout(() => { window.slept = true; }, 1500)", 3)
                element = browser.call("POST", "/element", {"using": "css selector", "value": f"#{section}"})[ELEMENT]
                picture = base64.b64decode(browser.call("GET", f"/element/{element}/screenshot"))
                (target / f"{name}.png").write_bytes(picture)
                print(f"{name}.png: {len(picture) // 1000} kB")
        finally:
            browser.end()


if __name__ == "__main__":
    main()
