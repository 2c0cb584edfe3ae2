"""The full-screen watch as a user has it: in a terminal (tmux), with keys, while a job runs, ends, or dies.
Depends on: launcher, display."""
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import harness

PATIENCE = harness.PATIENCE  # seconds for anything to appear
HELPERS = harness.BUILD / "tests"


class Terminal:
    """A shell in a tmux of its own."""

    def __init__(self, box, name, width, height, **environment):
        self.box, self.tmux = box, ["tmux", "-L", name, "-f", "/dev/null"]
        self.environment = {**box.environment, "LC_ALL": "C.UTF-8", "TMUX_TMPDIR": str(box.directory),
                            "ENV": "", **environment}
        self.environment.pop("TMUX", None)
        self.size = (str(width), str(height))

    def open(self):
        self.call("new-session", "-d", "-x", self.size[0], "-y", self.size[1], "sh")
        self.call("set-option", "-g", "window-size", "manual")
        self.type("PS1='rea''dy$ '")
        self.wait("ready$")

    def call(self, *arguments):
        return subprocess.run([*self.tmux, *arguments], env=self.environment, check=True, capture_output=True,
                              timeout=PATIENCE, text=True).stdout

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], env=self.environment, capture_output=True, timeout=PATIENCE)

    def screen(self):
        return self.call("capture-pane", "-p")

    def type(self, line):
        self.call("send-keys", "-l", line)
        self.call("send-keys", "Enter")

    def keys(self, *keys):
        for key in keys:
            self.call("send-keys", key)

    def resize(self, width, height):
        self.call("resize-window", "-x", str(width), "-y", str(height))

    def wait_until(self, what, condition):
        """The first screen for which it is true."""
        end = time.monotonic() + PATIENCE
        while True:
            screen = self.screen()
            if condition(screen):
                return screen
            if time.monotonic() > end:
                raise AssertionError(f"no {what} within {PATIENCE} s:\n{screen}")
            time.sleep(0.05)

    def wait(self, words):
        return self.wait_until(repr(words), lambda screen: words in screen)

    def wait_gone(self, words):
        return self.wait_until(f"end of {words!r}", lambda screen: words not in screen)

    def watch(self, *arguments):
        self.type("echo what was here before; " + " ".join([str(harness.PCLSCOPE), "watch", *map(str, arguments)])
                  + "; echo status=$?")


def matched(screen):
    found = re.search(r"^matched ([0-9,]+)", screen, re.MULTILINE)
    return int(found.group(1).replace(",", "")) if found else 0


def first_column(screen):
    """The numbers of the regions in view, from above."""
    return [int(number) for number in re.findall(r"^[> ][! ] +([0-9]+)  [0-9]", screen, re.MULTILINE)]


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class WatchScreen(harness.SystemTest):
    def terminal(self, name, width=80, height=24, **environment):
        terminal = Terminal(self.box, name, width, height, **environment)
        self.addCleanup(terminal.close)
        terminal.open()
        return terminal

    def start_cg(self):
        """Two regions of four ranks, until it is told to end."""
        return self.box.start_traced(8, harness.program("cg_pattern", harness.MPIS[0]), "1000000", "1024", "6000",
                                     self.box.until())

    def start_fake(self, name, ending):
        (self.box.runtime / "pclscope").mkdir(mode=0o700, exist_ok=True)
        end = self.box.until().removeprefix("until=")
        return self.box.start(HELPERS / "viewer_fake_job", name, f"ipc://{self.box.runtime}/pclscope/{name}", end,
                              ending)

    def viewer(self):
        """The pid of the only watch that runs."""
        pid, = [pid for pid, command in self.box.processes() if command.startswith(f"{harness.PCLSCOPE} watch")]
        return pid

    def assertBackInTheShell(self, terminal, status):
        screen = terminal.wait(f"status={status}")
        self.assertIn("what was here before", screen)
        self.assertNotIn("REGION", screen)
        terminal.type("stty -a | grep -c -e ' icanon'")  # the terminal reads lines and echoes again
        terminal.wait("stty -a")
        terminal.wait_until("line mode", lambda text: re.search(r"^1$", text, re.MULTILINE))

    def test_a_running_job_in_two_terminals(self):
        running = self.start_cg()
        job = self.box.job_name(running)
        large, small = self.terminal("large"), self.terminal("small", 40, 10)
        large.watch(job, "--interval", "200ms")
        small.watch("--interval", "200ms")
        large.wait("* REGIONS 2")
        large.wait("\nlive")
        small.wait("* REGIONS")
        first = matched(large.screen())
        large.wait_until("progress", lambda screen: matched(screen) > first)
        self.look_around(large)
        self.pause(large)
        self.details(large)
        self.resize(large)
        large.keys("q")
        self.assertBackInTheShell(large, 0)
        small.wait("live")  # who leaves does not disturb the other
        small.keys("Tab")
        small.wait("* FINDINGS")
        small.keys("C-c")
        small.wait("status=0")
        running.process.send_signal(signal.SIGTERM)
        running.finish()

    def look_around(self, terminal):
        while "by number," not in terminal.screen():
            before = re.search("REGIONS.*", terminal.screen()).group()
            terminal.keys("s")
            terminal.wait_until("another order", lambda screen: before not in screen)
        up = terminal.wait("by number, lowest first")
        self.assertEqual(first_column(up), sorted(first_column(up)))
        self.assertEqual(len(first_column(up)), 2, up)
        terminal.keys("r")
        down = terminal.wait("by number, highest first")
        # A young job may find its regions anew between two screens, under other numbers.
        self.assertEqual(first_column(down), sorted(first_column(down), reverse=True))
        self.assertEqual(len(first_column(down)), 2, down)
        terminal.keys("a")
        terminal.wait_until("plain characters", str.isascii)
        terminal.keys("a", "?")
        terminal.wait("HELP")
        terminal.keys("Escape")
        terminal.wait("* REGIONS")

    def pause(self, terminal):
        terminal.keys("p")
        still = matched(terminal.wait("paused"))
        screen = terminal.wait_until("news while paused",
                                     lambda text: re.search(r"paused, [0-9]{2,} snapshots behind", text))
        self.assertEqual(matched(screen), still)
        terminal.keys("Space")
        terminal.wait_gone("paused")
        terminal.wait_until("progress", lambda text: matched(text) > still)

    def details(self, terminal):
        terminal.keys("Home", "Down", "Enter")
        screen = terminal.wait("Esc back")
        number = int(re.search(r"^REGION ([0-9]+), 4 ranks", screen, re.MULTILINE).group(1))
        self.assertRegex(screen, r"(?m)^ranks +[0-9]-[0-9]")
        terminal.keys("BTab", "Tab")

        def at_its_end(_):  # the page of a running job may have grown since the key
            terminal.keys("End")
            return re.search(r"lines [0-9]+-([0-9]+) of \1\b", terminal.screen())
        terminal.wait_until("its end", at_its_end)
        terminal.keys("Escape")
        terminal.wait_until("the selected region", lambda text: re.search(rf"^>[! ] +{number} ", text, re.MULTILINE))

    def resize(self, terminal):
        terminal.resize(40, 10)
        screen = terminal.wait_until("the small window",
                                     lambda text: "* REGIONS" in text and len(text.splitlines()) <= 10)
        self.assertLessEqual(max(map(len, screen.splitlines())), 40)
        for width, height in ((20, 3), (1, 1), (7, 30)):
            terminal.resize(width, height)
        terminal.wait("make t")
        terminal.resize(120, 40)
        terminal.wait("\nlive")
        terminal.resize(80, 24)
        terminal.wait("* REGIONS 2")

    def test_the_page_of_phases_names_who_is_late(self):
        dump = self.box.directory / "late.h5"
        job = self.box.start_traced(8, harness.program("planted_halo3d", harness.MPIS[0]), "1000000", "5", "0",
                                    "1000000", "50000", self.box.until(), options=("--dump", dump, "--keep", "all"))
        terminal = self.terminal("phases", 120, 30)
        terminal.watch(self.box.job_name(job), "--interval", "200ms")
        terminal.wait("\nlive")
        terminal.keys("l")
        terminal.wait("most late: rank 5 in")
        terminal.wait("MPI_Isend at planted_halo3d.c:")
        terminal.wait("the newest first")
        terminal.keys("s")
        terminal.wait("those with most lateness first")
        terminal.keys("p")
        terminal.wait("paused")
        self.assertIn("most late", terminal.screen())
        terminal.keys("p", "Escape")
        terminal.wait("* REGIONS")
        terminal.keys("q")
        terminal.wait("status=0")
        self.assertWorked(self.box.end(job))
        terminal.type("clear")
        terminal.watch(dump, "--page", "phases")
        screen = terminal.wait("most late: rank 5 in")
        self.assertIn("phases of the run", screen)
        self.assertRegex(screen, r"(?m)^phase +from +took")
        terminal.keys("q")
        terminal.wait("status=0")

    def test_the_end_of_a_job_is_shown_until_a_key(self):
        terminal = self.terminal("end")
        running = self.start_cg()
        terminal.watch(self.box.job_name(running))
        terminal.wait("\nlive")
        done = self.box.end(running)
        self.assertWorked(done)
        screen = terminal.wait("\nfinished: the job has ended")
        iterations = int(re.search(r"iterations (\d+)", done.stdout)[1])
        self.assertEqual(matched(screen), 8 * (3 * 2 + 1) * iterations)  # what came last is shown
        terminal.keys("q")
        self.assertIn("has finished", terminal.wait("status=0"))

    def test_a_killed_aggregator_is_lost(self):
        terminal = self.terminal("lost")
        running = self.start_cg()
        terminal.watch(self.box.job_name(running))
        terminal.wait("\nlive")
        worker, = self.box.aggregator_workers()
        os.kill(worker, signal.SIGKILL)
        screen = terminal.wait("\nLOST")
        self.assertNotIn("\nlive", screen)
        self.assertIn("REGIONS", screen)  # the last picture stays
        terminal.keys("q")
        self.assertIn("is gone", terminal.wait("status=1"))
        self.box.end(running)

    def test_a_job_of_that_name_again_is_a_reconnect(self):
        terminal = self.terminal("again")
        first = self.start_fake("rain-1", "die")
        self.box.wait_for("job", lambda: self.box.json("list", "--json")["jobs"], running=first)
        terminal.watch("rain-1", "--interval", "100ms")
        terminal.wait("\nlive")
        self.box.end(first)
        terminal.wait("\nLOST")
        second = self.start_fake("rain-1", "finish")
        terminal.wait("live  reconnected 1 time")
        self.box.end(second)
        terminal.wait("\nfinished: the job has ended")
        terminal.keys("q")
        terminal.wait("status=0")

    def test_a_dump_is_browsed_and_signals_give_the_terminal_back(self):
        dump = self.box.directory / "a.h5"
        self.assertWorked(self.box.run(HELPERS / "viewer_make_dump", dump))
        terminal = self.terminal("dump")
        terminal.watch(dump)
        terminal.wait("from a file")
        terminal.keys("Enter")
        terminal.wait("REGION 7, 3 ranks")
        terminal.keys("C-z")  # stopped: the shell's screen, in line mode
        self.assertNotIn("REGION 7", terminal.wait("topped"))
        terminal.type("fg; echo status=$?")
        terminal.wait("REGION 7, 3 ranks")
        terminal.keys("C-c")
        self.assertBackInTheShell(terminal, 0)
        for number in (signal.SIGTERM, signal.SIGHUP):
            terminal.type("clear")
            terminal.watch(dump)
            terminal.wait("from a file")
            os.kill(self.viewer(), number)
            self.assertBackInTheShell(terminal, 0)
        terminal.type("clear")
        terminal.watch(dump)
        terminal.wait("from a file")
        viewer = self.viewer()
        terminal.close()  # the window is closed
        self.box.wait_for("end of the viewer", lambda: viewer not in [pid for pid, _ in self.box.processes()])

    def test_plain_text_where_there_is_no_screen(self):
        dump = self.box.directory / "a.h5"
        self.assertWorked(self.box.run(HELPERS / "viewer_make_dump", dump))
        dumb = self.terminal("dumb")
        commands = ("TERM=dumb {}", "TERM=no-such-terminal {}", "TERM= {}", "{} --plain", "{} --once", "{} </dev/null",
                    "{} | cat")
        for number, command in enumerate(commands):
            dumb.type(command.format(f"{harness.PCLSCOPE} watch {dump}") + f"; echo status=$? of {number}")
            screen = dumb.wait(f"status=0 of {number}")  # ends by itself
            self.assertIn("MPI_Recv", screen, command)
            self.assertNotIn("q quit", screen, command)
        no_colour = self.terminal("grey", NO_COLOR="1")
        no_colour.watch(dump)
        no_colour.wait("* REGIONS")
        self.assertNotRegex(no_colour.call("capture-pane", "-p", "-e"), r"\x1b\[[0-9;]*(3[0-7]|38;)[0-9;]*m")
        no_colour.keys("q")
        coloured = self.terminal("colour")
        coloured.watch(dump)
        coloured.wait("* REGIONS")
        self.assertRegex(coloured.call("capture-pane", "-p", "-e"), r"\x1b\[[0-9;]*(3[0-7]|38;)[0-9;]*m")


if __name__ == "__main__":
    harness.main()
