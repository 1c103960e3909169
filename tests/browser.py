"""A real Chromium for tests of pages: found where Debian has it, driven headless, offline."""

import base64
import json
import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars"
)
AXE = Path(__file__).parents[1] / ".browser" / "node_modules" / "axe-core" / "axe.min.js"


def chromium():
    """Return the browser and its driver, or None where there are none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser"), shutil.which("chromedriver")
    return found if all(found) else None


needs_browser = pytest.mark.skipif(
    chromium() is None, reason="Chromium and ChromeDriver are not installed; make test-browser installs them"
)
needs_axe = pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed; make test-browser installs it")


class Browser:
    """A page in the browser, and what it did."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, width=1280, height=900, *, dark=False):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        self.driver.get("about:blank")
        self.complaints(), self.requests()
        self.driver.get(Path(path).resolve().as_uri())
        self.wait("return document.body.dataset.drawn === 'yes'")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, seconds=20):
        end = time.monotonic() + seconds
        while not self.run(script):
            assert time.monotonic() < end, f"never true: {script}; the console says {self.complaints()}"
            time.sleep(0.05)

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Return what was asked of the network, other than the file itself."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [
            event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked if not url.startswith(("file:", "about:", "data:"))]

    def text(self, css):
        return self.run("return document.querySelector(arguments[0]).innerText", css)

    def texts(self, css):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((node) => node.innerText)", css)

    def picture(self, path, width, height, top=0):
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        found = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def printed(self, path):
        found = self.driver.execute_cdp_cmd(
            "Page.printToPDF", {"printBackground": True, "paperWidth": 8.27, "paperHeight": 11.69}
        )
        Path(path).write_bytes(base64.b64decode(found["data"]))


@contextmanager
def started():
    """Start a browser with a profile of its own, and end it."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    browser, driver = chromium()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = browser
        for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = Service(driver, log_output=os.devnull)
        running = webdriver.Chrome(options=options, service=service)
        try:
            yield Browser(running)
        finally:
            running.quit()
