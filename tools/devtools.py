"""Chromium by its DevTools protocol, over two pipes: nothing but Python's own library is needed."""
import base64
import json
import os
import queue
import subprocess
import tempfile
import threading
import time


class Browser:
    """One headless Chromium with a profile of its own, and in it one page."""

    def __init__(self, program="chromium"):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read, theirs_out = os.pipe()
        theirs_in, write = os.pipe()

        def take_pipes():  # the protocol's are 3 and 4
            kept_in, kept_out = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(kept_in, 3)
            os.dup2(kept_out, 4)

        options = ["--headless", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                   "--force-color-profile=srgb", f"--user-data-dir={self.profile.name}"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")  # Chromium's own does not work for root
        self.process = subprocess.Popen([program, *options, "about:blank"], close_fds=False, preexec_fn=take_pipes,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_out)
        os.close(theirs_in)
        self.write, self.number, self.answers, self.events = write, 0, {}, []
        self.arrived = queue.Queue()
        threading.Thread(target=self._read, args=(read,), daemon=True).start()
        target = self.call("Target.createTarget", {"url": "about:blank"}, session=None)["targetId"]
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True}, session=None)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def _read(self, pipe):
        rest = b""
        while piece := os.read(pipe, 1 << 16):
            *whole, rest = (rest + piece).split(b"\0")
            for one in whole:
                self.arrived.put(json.loads(one))

    def _take(self, timeout):
        message = self.arrived.get(timeout=timeout)
        if "id" in message:
            self.answers[message["id"]] = message
        else:
            self.events.append(message)

    def call(self, method, parameters=None, session="own"):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while self.number not in self.answers:
            self._take(60)
        answer = self.answers.pop(self.number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def settle(self):
        """Takes what has been said until now."""
        while not self.arrived.empty():
            self._take(1)

    def value(self, expression):
        result = self.call("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression, what=None, seconds=20):
        end = time.monotonic() + seconds
        while not self.value(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise AssertionError(f"never: {what or expression}")
            time.sleep(0.05)

    def open(self, url):
        self.call("Page.navigate", {"url": url})

    def look(self, width, height, dark=False):
        """The size and the colours of what shows the page."""
        self.call("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}

    def press(self, key, shift=False):
        code = self.KEYS.get(key, ord(key.upper()) if len(key) == 1 else 0)
        text = {"Enter": "\r", "Space": " "}.get(key, key if len(key) == 1 else "")
        event = {"key": " " if key == "Space" else key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", **event, **({"text": text} if text else {})})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def type(self, text):
        self.call("Input.insertText", {"text": text})

    def picture(self, path):
        """All of the page, to some length."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000), "scale": 1}
        picture = self.call("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip})
        path.write_bytes(base64.b64decode(picture["data"]))

    def close(self):
        try:
            self.call("Browser.close", session=None)
            self.process.wait(timeout=20)
        except Exception:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()
