#!/usr/bin/env python3
"""The server's page in headless Chromium: ./x page.

Serves the seeds, goes through the page as people do, with the keyboard alone, on a phone and in the dark, and says what
is not so: errors on the console, violations of the content security policy, something wider than the screen, text that
is hard to read, something that has no name. Screenshots of all that lie in build/page afterwards: look at them."""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from devtools import Browser

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOSTILE = '<img src=x onerror=alert(1)>"\'<script>alert(2)</script>'
WIDTHS = {"phone": (320, 640), "tablet": (768, 1024), "desk": (1280, 900)}

# Of the text that is seen: what has too little contrast with what is behind it (WCAG 2, AA).
CONTRAST = """(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((x) => x / 255); };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = (c) => { const [r, g, b] = c.map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (e) => { const layers = []; for (; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [1, 1, 1, 1]); };
  const bad = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const e = node.parentElement, style = getComputedStyle(e);
    if (!node.data.trim() || e.closest('.unseen, noscript, .skip, [hidden]') || !e.checkVisibility()) continue;
    const back = ground(e), [a, b] = [light(over(rgba(style.color), back)), light(back)].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24;
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) bad.push(`${node.data.trim().slice(0, 30)}: ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
  }
  return [...new Set(bad)].slice(0, 5);
})()"""
# What reaches beyond the right edge of the window, and cannot be scrolled to within its own frame.
WIDE = """(() => {
  const wide = document.documentElement.scrollWidth > innerWidth ? ['the page: ' + document.documentElement.scrollWidth] : [];
  for (const e of document.querySelectorAll('main *, header *')) {
    if (e.closest('.scroll, pre, svg, .unseen, .tip, .skip') || !e.checkVisibility()) continue;
    if (e.getBoundingClientRect().right > innerWidth + 1) wide.push(e.tagName + '.' + e.className);
  }
  return wide.slice(0, 5);
})()"""


def hostile_entry(line):
    """The entry under another name. Its id is the hash of what else it says, keys in order (tuning-db/entry.cc)."""
    entry = json.loads(line)
    old = json.dumps(entry["id"]), json.dumps(entry["name"])
    # Faster than the others, so that it stands for its nest.
    line = re.sub('"tuned_seconds":[^,}]*', '"tuned_seconds":0.001953125', line)
    text = line.replace(f'"id":{old[0]},', "", 1).replace(f'"name":{old[1]}', f'"name":{json.dumps(HOSTILE)}', 1)
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    return text.replace(f'"name":{json.dumps(HOSTILE)}', f'"id":"{digest}","name":{json.dumps(HOSTILE)}', 1) + "\n"


class Server:
    """sous-serve over a database of its own, filled with the seeds."""

    def __init__(self, build, folder, *options):
        self.folder, self.serve = folder, build / "sous-serve"
        environment = {**os.environ, "SOUS_SEED_DIR": str(folder / "seed")}
        self.process = subprocess.Popen([self.serve, "--db", folder / "page.db", "--listen", "127.0.0.1:0", *options], env=environment,
                                        stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split(",")[0].split("listening on ")[1]

    def token(self, name, scopes):
        return subprocess.run([self.serve, "token", "add", name, "--scopes", scopes, "--db", self.folder / "page.db"], check=True,
                              capture_output=True, text=True).stdout.strip()

    def json(self, path, token=""):
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {token}"} if token else {})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def stop(self):
        self.process.terminate()
        assert self.process.wait() == 0
        self.process.stdout.close()


class Visit:
    """A browser at a server, and what was found there."""

    def __init__(self, browser, server, out):
        self.browser, self.server, self.out, self.faults, self.allowed = browser, server, out, [], set()

    def fault(self, text):
        self.faults.append(text)
        print("  not so:", text, flush=True)

    def expect(self, true, text):
        if not true:
            self.fault(text)

    def go(self, place, ready="h1"):
        self.browser.open("about:blank")
        self.browser.open(self.server.url + "/" + place)
        self.browser.wait(f"document.querySelector('main .view {ready}') && !document.querySelector('main[aria-busy]')", f"{place} shows {ready}")

    def focused(self):
        return self.browser.value("(e => e.id || e.textContent.trim() || e.tagName)(document.activeElement)")

    def said_on_console(self):
        self.browser.settle()
        for event in self.browser.events:
            kind, parameters = event["method"], event["params"]
            if kind == "Runtime.exceptionThrown":
                self.fault(f"an exception: {parameters['exceptionDetails'].get('exception', parameters['exceptionDetails'])}")
            if kind == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                self.fault(f"on the console: {parameters['args']}")
            if kind == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                entry = parameters["entry"]
                if not any(status in entry["text"] for status in self.allowed):
                    self.fault(f"in the log: {entry['text']} {entry.get('url', '')}")
            if kind == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                self.expect(url.startswith((self.server.url, "blob:", "about:", "data:")), f"a request to elsewhere: {url}")
            if kind == "Page.javascriptDialogOpening":
                self.fault("a dialog was opened")
        self.browser.events.clear()

    def named(self, place):
        """Whoever listens to the page is told what everything is."""
        roles = set()
        for node in self.browser.call("Accessibility.getFullAXTree")["nodes"]:
            role, name = node.get("role", {}).get("value", ""), node.get("name", {}).get("value", "")
            if node.get("ignored"):
                continue
            roles.add(role)
            if role in ("button", "link", "textbox", "searchbox", "image", "application", "region", "table", "DisclosureTriangle") and not name.strip():
                self.fault(f"{place}: a {role} without a name")
        for role in ("banner", "main", "navigation", "heading", "status"):
            self.expect(role in roles, f"{place}: there is no {role}")

    def everywhere(self, place, name, ready):
        for dark in (False, True):
            for width, size in WIDTHS.items():
                self.browser.look(*size, dark)
                self.go(place, ready)
                for problem in self.browser.value(WIDE):
                    self.fault(f"{name}, {width}: wider than the screen: {problem}")
                for problem in self.browser.value(CONTRAST):
                    self.fault(f"{name}, {'dark' if dark else 'light'}: too little contrast: {problem}")
                self.browser.picture(self.out / f"{name}-{width}{'-dark' if dark else ''}.png")
        self.browser.look(*WIDTHS["desk"])
        self.named(name)
        self.said_on_console()


def all_pages(visit):
    best = max(visit.server.json("/v1/map")["nests"], key=lambda nest: nest["gain"])["hash"]
    for place, name, ready in (("", "map", "svg circle"), (f"#/nest/{best}", "nest", ".picture img"), ("#/lift", "lift", "textarea"),
                               ("#/machines", "machines", ".card"), ("#/steps", "steps", ".step-list"), ("#/steps/tile", "step", "table"),
                               ("#/nest/" + "0" * 32, "no-nest", ".notice")):
        visit.allowed = {"404"} if name == "no-nest" else set()
        visit.everywhere(place, name, ready)


def map_and_list(visit):
    """By the keyboard alone: past the navigation, through the map, into a nest and back."""
    browser, told = visit.browser, visit.server.json("/v1/map")["nests"]
    visit.go("", "svg circle")
    visit.expect(browser.value("document.querySelectorAll('svg.map circle.point').length") == len(told), "a circle for each nest")
    browser.press("Tab")
    visit.expect(visit.focused() == "To the content", f"the first tab stop leads to the content, not {visit.focused()}")
    browser.press("Enter")
    visit.expect(browser.value("document.activeElement === document.querySelector('main')"), "the skip link goes to main")
    for _ in range(30):
        browser.press("Tab")
        if browser.value("document.activeElement.matches('svg.map')"):
            break
    else:
        visit.fault("the map is not reached by Tab")
    browser.press("ArrowRight")
    said = browser.value("document.getElementById('said').textContent")
    visit.expect("×" in said, f"the map says which nest was chosen, not {said!r}")
    browser.press("ArrowLeft")
    browser.press("+")
    visit.expect("Zoom 1.5" in browser.value("document.getElementById('said').textContent"), "+ zooms")
    browser.press("ArrowDown")
    browser.picture(visit.out / "map-keyboard.png")
    browser.press("Enter")
    browser.wait("location.hash.startsWith('#/nest/') && document.querySelector('.picture img')", "Enter opens the nest")
    visit.expect(browser.value("document.activeElement.matches('h1')"), "a new page begins at its heading")
    browser.value("history.back()")
    browser.wait("document.querySelector('svg circle')", "back to the map")
    browser.value("document.getElementById('search').focus()")
    browser.type("gemm")
    browser.wait("document.querySelector('.list .hint').textContent.includes('found')", "the search answers")
    rows = browser.value("[...document.querySelectorAll('.list tbody a')].map(a => a.textContent)")
    visit.expect(rows and all("gemm" in row for row in rows), f"found for gemm: {rows}")
    shown = browser.value("[...document.querySelectorAll('svg.map circle.point')].filter(c => !c.classList.contains('faint')).length")
    visit.expect(shown == len(rows), f"the map shows what was found: {shown} of {len(rows)}")
    browser.picture(visit.out / "map-search.png")
    browser.value("document.querySelector('.legend button').focus()")
    browser.press("Space")
    visit.expect(browser.value("document.querySelector('.legend button').getAttribute('aria-pressed')") == "false", "Space hides a family")
    visit.said_on_console()


def pasted(visit):
    browser = visit.browser
    visit.go("#/lift", "textarea")
    browser.value("document.getElementById('source').focus()")
    browser.type("void scale(int n, float *x) {\n  for (int i = 0; i < n; i++) x[i] = 2 * x[i];\n  for (int i = 0; i < n; i++) unknown(i);\n}\nvoid unknown(int);\n")
    browser.press("Tab")
    visit.expect(visit.focused() == "Look at it", "Tab goes from the text to the button")
    visit.allowed = {"400"}
    browser.press("Enter")
    browser.wait("document.querySelector('.results .notice')", "what is no C is refused")
    visit.expect("pasted.c:3" in browser.value("document.querySelector('.results').textContent"), "the refusal says where")
    browser.picture(visit.out / "lift-refused.png")
    visit.said_on_console()
    visit.allowed = set()
    browser.press("Tab")
    browser.press("Enter")  # an example
    browser.value("document.querySelector('button.primary[type=submit]:not(#token *)').click()")
    browser.wait("document.querySelector('.results .card table')", "the example has neighbours", 40)
    visit.expect("Products" in browser.value("document.querySelector('.results').textContent"), "a product is one")
    for name, size in WIDTHS.items():
        browser.look(*size)
        for problem in browser.value(WIDE):
            visit.fault(f"lifted, {name}: wider than the screen: {problem}")
        browser.value("document.querySelector('.results').scrollIntoView()")
        browser.picture(visit.out / f"lifted-{name}.png")
    browser.look(*WIDTHS["desk"])
    visit.named("lifted")
    visit.said_on_console()


def hostile_names(visit):
    """Whoever sends an entry chooses its name."""
    browser = visit.browser
    visit.go("", "svg circle")
    browser.value("document.getElementById('search').focus()")
    browser.type("onerror")
    browser.wait("document.querySelector('.list .hint').textContent.includes('1 found')", "the hostile name is found")
    name = browser.value("document.querySelector('.list tbody a').textContent")
    visit.expect(name == HOSTILE, f"a name is shown as it is: {name}")
    browser.value("document.querySelector('.list tbody a').click()")
    browser.wait("document.querySelector('.picture img')", "its nest is shown")
    visit.expect(browser.value("document.querySelector('h1').textContent") == HOSTILE, "and so is the heading")
    visit.expect(browser.value("document.querySelectorAll('img[src=x], main script').length") == 0, "a name became an element")
    visit.said_on_console()


def private(visit):
    browser = visit.browser
    reader, worker = visit.server.token("eyes", "read"), visit.server.token("hands", "read,work")
    visit.allowed = {"401"}
    visit.go("", ".notice")
    visit.expect(browser.value("document.getElementById('token').open"), "a private server asks for a token")
    browser.picture(visit.out / "private.png")
    visit.said_on_console()
    for token, lacks in ((reader, False), (worker, True)):
        browser.value("document.getElementById('token').open = true; document.getElementById('token-text').focus()")
        browser.type(token)
        browser.press("Enter")
        browser.wait("document.querySelector('svg circle')", "with a token the map is shown")
        visit.expect(browser.value("document.activeElement.matches('#token summary')"), "the focus goes back to where the token was asked for")
        browser.value("location.hash = '#/machines'")
        browser.wait("document.querySelector('.card')", "the machines")
        wanted = browser.value("document.querySelector('main').textContent.includes('Nothing is wanted')")
        visit.expect(wanted == lacks, f"what is wanted is shown to workers: {wanted} for {'worker' if lacks else 'reader'}")
        browser.value("location.hash = '#/'")
        browser.wait("document.querySelector('svg circle')", "the map again")
    visit.expect(browser.value("localStorage.length") == 0 and browser.value("document.cookie") == "", "the token lies in the session alone")
    visit.expect(browser.value("sessionStorage.getItem('sous-token')") == worker, "the token lies in the session")
    browser.value("document.getElementById('token').open = true; document.getElementById('token-forget').click()")
    browser.wait("document.querySelector('.notice')", "forgotten, the token opens nothing")
    visit.expect(browser.value("sessionStorage.length") == 0, "a token that is forgotten is gone")
    visit.said_on_console()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--chromium", default="chromium")
    options = parser.parse_args()
    build = options.build.resolve()
    out = build / "page"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    faults, began = [], time.monotonic()

    def run(task, folder, *serving):
        print(task.__name__.replace("_", " "), flush=True)
        server = Server(build, folder, *serving)
        try:
            visit = Visit(browser, server, out)
            task(visit)
        finally:
            server.stop()
        faults.extend(visit.faults)

    browser = Browser(options.chromium)
    try:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            shutil.copytree(ROOT / "tuning-db/seed", folder / "seed")
            for task in (all_pages, map_and_list, pasted):
                run(task, folder)
            (folder / "seed/hostile.jsonl").write_text(hostile_entry((folder / "seed/polybench.jsonl").read_text().splitlines()[0]))
            run(hostile_names, folder)
            run(private, folder, "--private")
    finally:
        browser.close()
    print(f"{len(faults)} faults, {len(list(out.glob('*.png')))} screenshots in {out}, {time.monotonic() - began:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
