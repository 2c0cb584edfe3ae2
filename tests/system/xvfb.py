"""A screen without a monitor, and hands: Xvfb and xdotool; and the state that the viewer tells of itself
(--describe)."""
import json
import os
import shutil
import struct
import subprocess
import time

import harness
import numpy

WIDTH, HEIGHT = 1600, 1000


def why_not():
    for tool in ("Xvfb", "xdotool"):
        if shutil.which(tool) is None:
            return f"there is no {tool}"
    return None if (harness.BUILD / "bin" / "pclscope-view").exists() else "the viewer is not built"


class Screen:
    def __init__(self, box, width=WIDTH, height=HEIGHT):
        self.box, self.directory = box, box.directory / f"screen{time.monotonic_ns()}"
        self.directory.mkdir()
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24",
                                        "-nolisten", "tcp", "-noreset", "-fbdir", str(self.directory)],
                                       pass_fds=(write,), env=box.environment,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as numbers:
            self.display = f":{numbers.readline().strip()}"
        box.environment.update(DISPLAY=self.display, XDG_CONFIG_HOME=str(self.directory / "config"),
                               LIBGL_ALWAYS_SOFTWARE="1")
        box.wait_for("screen", lambda: box.run("xdotool", "getdisplaygeometry").code == 0)

    def close(self):
        self.server.terminate()
        self.server.wait(harness.PATIENCE)

    def pixels(self):
        """The whole screen, height x width x 3, red first (the X window dump that Xvfb keeps)."""
        raw = (self.directory / "Xvfb_screen0").read_bytes()
        header = struct.unpack(">25I", raw[:100])
        size, width, height, line, colours = header[0], header[4], header[5], header[12], header[19]
        begin = size + colours * 12
        rows = numpy.frombuffer(raw[begin:begin + line * height], dtype=numpy.uint8).reshape(height, line // 4, 4)
        return rows[:, :width, 2::-1]


class Viewer:
    """A `pclscope view` on that screen."""

    def __init__(self, box, screen, *arguments):
        self.box, self.screen = box, screen
        self.file = box.directory / f"view{time.monotonic_ns()}.json"
        self.running = box.start(harness.PCLSCOPE, "view", "--describe", self.file, *arguments)

    def state(self):
        try:
            return json.loads(self.file.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def wait(self, what, condition, timeout=harness.PATIENCE):
        def holds():
            state = self.state()
            return state if state and condition(state) else None
        return self.box.wait_for(what, holds, timeout=timeout, running=self.running)

    def until(self, act, what, condition):
        """Acts, and waits for what comes of it. Where frames take longer than a click does, clicks are lost: once more
        when nothing came within half a minute."""
        for again in range(8):
            act()
            try:
                return self.wait(what, condition, timeout=30)
            except AssertionError:
                if again == 7 or not self.running.running():
                    raise
        return None

    def settled(self):
        return self.wait("picture that stands still", lambda s: s["settled"] and s["views"])

    def mark(self, name):
        """Where a mark is, once it is there and stands still."""
        def found(state):
            return state["settled"] and self.find(state, name)
        return self.find(self.wait(f"mark '{name}'", found), name)

    @staticmethod
    def find(state, name):
        for view in state["views"].values():
            if name in view["marks"]:
                return view["marks"][name]
        return state["status"].get(name)

    def names(self, begin):
        return [name for view in self.state()["views"].values() for name in view["marks"] if name.startswith(begin)]

    def xdotool(self, *words):
        done = self.box.run("xdotool", *[str(w) for w in words])
        assert done.code == 0, str(done)

    def focus(self):
        self.xdotool("search", "--sync", "--name", "^pclscope", "windowfocus", "--sync")

    # ImGui looks at the mouse once per frame: each step has to last longer than one.
    def click(self, at, count=1):
        once = ("mousedown", 1, "sleep", 0.07, "mouseup", 1, "sleep", 0.07)
        self.xdotool("mousemove", *at, "sleep", 0.2, *(once * count))  # one process: a double click is 300 ms at most

    def drag(self, begin, end, button=1, shift=False):
        steps = [[round(a + (b - a) * step / 5) for a, b in zip(begin, end)] for step in range(1, 6)]
        way = [word for step in steps for word in ("mousemove", *step, "sleep", 0.07)]
        down, up = (("keydown", "shift", "sleep", 0.15), ("keyup", "shift")) if shift else ((), ())
        self.xdotool("mousemove", *begin, "sleep", 0.2, *down, "mousedown", button, "sleep", 0.15, *way,
                     "mouseup", button, "sleep", 0.1, *up)

    def key(self, name):
        self.xdotool("key", "--delay", 80, name)

    def kill(self):
        for pid, command in self.box.processes():
            if "pclscope-view" in command and str(self.file) in command:
                os.kill(pid, 9)
