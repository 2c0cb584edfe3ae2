"""Runs one step of the check: a command whose output goes to a file, with a line of progress at least every 10 s."""
import os
import pathlib
import subprocess
import threading
import time

BEGAN = time.monotonic()
QUIET_S = 8  # without a line for so long: say what is under way
lock = threading.Lock()
last_line = BEGAN


def since_start():
    return time.monotonic() - BEGAN


def say(text):
    global last_line
    with lock:
        print(f"[{since_start():5.0f} s] {text}", flush=True)
        last_line = time.monotonic()


class Step:
    """A command under way. Each line it prints goes to its log and to `look`, which may say something of it."""

    def __init__(self, name, command, log, look=None, nice=0, environment=None):
        self.name, self.command, self.log = name, [str(word) for word in command], pathlib.Path(log)
        self.began, self.ended, self.doing = since_start(), None, ""
        self.look = look or (lambda step, line: None)
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace",
                                        env={**os.environ, **(environment or {})},
                                        preexec_fn=(lambda: os.nice(nice)) if nice else None)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        under_way.append(self)

    def read(self):
        with open(self.log, "w", encoding="utf-8") as log:
            for line in self.process.stdout:
                log.write(line)
                log.flush()
                self.look(self, line.rstrip("\n"))

    def wait(self):
        """The exit status. Says what is under way when nothing else was said for a while."""
        while self.thread.is_alive():
            self.thread.join(0.2)
            if time.monotonic() - last_line > QUIET_S:
                say("  still: " + "; ".join(f"{step.name} {step.doing}".strip() for step in under_way))
        status = self.process.wait()
        self.ended = since_start()
        under_way.remove(self)
        return status

    def seconds(self):
        return (self.ended if self.ended is not None else since_start()) - self.began

    def end_of_log(self, lines):
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


under_way = []


def stop_all():
    for step in list(under_way):
        step.process.terminate()
