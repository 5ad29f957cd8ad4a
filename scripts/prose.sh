#!/usr/bin/env bash
# Finds terms of the old writing style in string literals and comments of the sources, in Markdown pages, in the
# script and style sheet of the interactive page, and in the Python package. Prints each place, the term and its replacement. Exits 1 if
# there is such a place, or if an entry of the allow list is not needed.
# Usage: scripts/prose.sh [FILE_OR_FOLDER...]   default: all
# scripts/prose.terms lists the terms. scripts/prose.allow lists phrases in which a term is normal English (at
# most 40).
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - "$@" <<'PY'
import os, re, sys

GENERATED = {"docs/columns.md"}  # from the texts in src
MOST_ALLOWED = 40
GAP = "\0"  # stands for code: no term matches across it


def entries(name):
    with open("scripts/" + name, encoding="utf-8") as f:
        lines = [line.rstrip("\n") for line in f]
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def pattern_of(terms):
    """Terms as one regular expression: whole words, any white space between them."""
    return re.compile(r"(?<![\w-])(?:%s)(?![\w-])" % "|".join(terms).replace(" ", r"\s+"), re.I)


CPP = re.compile(
    r'R"(?P<mark>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=mark)"'
    r'|"(?P<text>(?:[^"\\\n]|\\.)*)"'
    r"|(?<![\w'])'(?:[^'\\\n]|\\.)+'"
    r"|//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/", re.S)
JS = re.compile(
    r'"(?P<text>(?:[^"\\\n]|\\.)*)"|' r"'(?P<text1>(?:[^'\\\n]|\\.)*)'"
    r"|`(?P<text2>(?:[^`\\]|\\.)*)`"
    r"|//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/"
    r"|(?<=[=(,:!&|?{};])\s*/(?:[^/\\\n]|\\.)+/", re.S)

PY = re.compile(
    r'"""(?P<raw>.*?)"""|"(?P<text>(?:[^"\\\n]|\\.)*)"|' r"'(?P<text1>(?:[^'\\\n]|\\.)*)'"
    r"|#(?P<line>[^\n]*)", re.S)


def blank(text):
    return re.sub(r"\S", GAP, text)


def source_prose(text, grammar):
    """Returns the text with code replaced by gaps, on the same lines. Literals (or comments) with only white
    space between them are read as one text."""
    out, at, before = [], 0, None
    for m in grammar.finditer(text):
        group = m.lastgroup if m.lastgroup != "mark" else "raw"
        between = text[at:m.start()]
        kind = None if group is None else ("comment" if group in ("line", "block") else "text")
        joined = kind is not None and kind == before and not between.strip()
        if joined and out:
            out[-1] = re.sub(GAP, " ", out[-1])  # the closing quote
        out.append(blank(between))
        if kind is None:
            out.append(blank(m.group()))
        else:
            body = m.group(group)
            if kind == "text":
                body = re.sub(r"\\.", GAP * 2, body)
                body = re.sub(r"\$\{[^}]*\}", lambda e: blank(e.group()), body)
                if " " not in body and not joined:
                    body = blank(body)  # a name, not a sentence
            body = re.sub(r"`[^`\n]*`", lambda e: blank(e.group()), body)
            start, end = m.start(group) - m.start(), m.end() - m.end(group)
            out.append((" " if joined else GAP) * start + body)
            out.append((GAP if kind == "text" else " ") * end)
        at, before = m.end(), kind
    out.append(blank(text[at:]))
    return "".join(out)


def page_prose(text):
    """Returns a Markdown page without code blocks, inline code, link targets, HTML comments and blank lines
    (a blank line ends a sentence)."""
    out, fenced = [], False
    for line in text.splitlines(True):
        fence = line.lstrip().startswith("```")
        out.append(blank(line) if fenced or fence else line)
        fenced ^= fence
    text = "".join(out)
    for code in (r"<!--.*?-->", r"`[^`]+`", r"(?<=\])\([^)]*\)"):
        text = re.sub(code, lambda m: blank(m.group()), text, flags=re.S)
    return re.sub(r"\n(?=\n)", GAP + "\n", text)


def prose(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if path.endswith(".md"):
        text = page_prose(text)
    else:
        grammar = JS if path.endswith((".js", ".css")) else PY if path.endswith(".py") else CPP
        text = source_prose(text, grammar)
    return re.sub(GAP + r"[\0 ]*", GAP, text)


def files_below(folder):
    endings = (".cpp", ".h", ".def", ".in", ".js", ".css", ".md", ".py")
    if os.path.isfile(folder):
        return [folder]
    found = []
    for at, folders, names in os.walk(folder):
        folders.sort()
        found += [os.path.join(at, n) for n in sorted(names) if n.endswith(endings)]
    return [f for f in found if f not in GENERATED]


def all_files():
    pages = sorted(n for n in os.listdir(".") if n.endswith(".md"))
    return pages + [f for folder in ("docs", "include", "python", "src") for f in files_below(folder)]


terms = [(pattern_of([old]), new) for old, new in entries("prose.terms")]
any_term = pattern_of(old for old, _ in entries("prose.terms"))
allowed = [entry[0] for entry in entries("prose.allow")]
any_allowed = pattern_of(allowed or ["(?!)"])


def places(text):
    """Yields (line, words, replacement) of each term in the prose of a file."""
    spans = [m.span() for m in any_allowed.finditer(text)]
    for m in any_term.finditer(text):
        if any(a < m.end() and m.start() < b for a, b in spans):
            continue
        write = next(new for term, new in terms if term.match(text, m.start()))
        yield text.count("\n", 0, m.start()) + 1, " ".join(m.group().split()), write


def main(args):
    bad = []
    unused = set(allowed)
    for path in [f for a in args for f in files_below(a.rstrip("/"))] or all_files():
        text = prose(path)
        bad += [f"{path}:{line}: {words} -> {write}" for line, words, write in places(text)]
        unused = {entry for entry in unused if not pattern_of([entry]).search(text)}
    if not args:
        bad += [f"scripts/prose.allow: nothing needs '{a}'; remove it" for a in sorted(unused)]
        if len(allowed) > MOST_ALLOWED:
            bad.append(f"scripts/prose.allow has {len(allowed)} entries; at most {MOST_ALLOWED} are allowed")
    if bad:
        print("\n".join(bad))
    return 1 if bad else 0


sys.exit(main(sys.argv[1:]))
PY
