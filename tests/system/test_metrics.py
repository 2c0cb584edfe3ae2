"""Metrics of a running job over HTTP: for who has the token alone; and a dashboard that asks for nothing that there is
not. Depends on: launcher."""
import http.client
import json
import pathlib
import re

import harness

DASHBOARD = harness.SOURCE / "docs" / "grafana.json"
NAME = re.compile(r"\bpclscope_[a-z_]+\b")


def families(text):
    """{name of a sample: names of its labels} of OpenMetrics text; labels of a family without samples: None."""
    found, kinds = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            kinds[name] = kind
            found.setdefault(name + ("_total" if kind == "counter" else ""), None)
        elif not line.startswith("#"):
            name, labels = re.match(r"([a-z_]+)\{(.*)\} \S+$", line).groups()
            found[name] = set(re.findall(r'(?:^|,)([a-z_]+)="', labels))
    return found


def expressions(value):
    """All texts of queries anywhere in a dashboard (the choice of a data source is none)."""
    if isinstance(value, dict) and value.get("type") != "datasource":
        for key, inner in value.items():
            if key in ("expr", "query", "definition") and isinstance(inner, str):
                yield inner
            else:
                yield from expressions(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from expressions(inner)


class Metrics(harness.SystemTest):
    def ask(self, port, target="/metrics", token=None, method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=harness.PATIENCE)
        connection.request(method, target, headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, body

    def test_of_a_running_job(self):
        job = self.box.start_traced(4, harness.program("halo2d", "openmpi"), "100000000", "64", "1000",
                                    self.box.until())
        name = self.box.job_name(job)
        watch = self.box.start(harness.PCLSCOPE, "watch", name, "--metrics-http", "0", "--interval", "100ms")

        def said():
            found = re.search(r"http://127\.0\.0\.1:(\d+)/metrics .* what (\S+) says", watch.output()[1])
            return found and (int(found.group(1)), pathlib.Path(found.group(2)))

        port, file = self.box.wait_for("the address", said, running=watch)
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        token = file.read_text().strip()
        self.assertGreaterEqual(len(token), 32)
        status, text = self.box.wait_for("metrics", lambda: (got := self.ask(port, token=token))[0] == 200 and got,
                                         running=watch)
        self.assertEqual(status, 200)
        self.assertIn(f'pclscope_up{{job="{name}"}} 1\n', text)
        self.assertTrue(text.endswith("# EOF\n"))
        for wrong in (None, token[:-1], token + "0", "0" * len(token)):
            status, body = self.ask(port, token=wrong)
            self.assertEqual((status, "pclscope_" in body), (401, False))
        self.assertEqual(self.ask(port, "/", token=token)[0], 404)
        self.assertEqual(self.ask(port, token=token, method="POST")[0], 405)
        # It listens on no other address of this machine.
        listening = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
                     if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")]
        self.assertEqual(listening, [f"0100007F:{port:04X}"])
        taken = self.box.pclscope("watch", name, "--metrics-http", str(port))
        self.assertEqual(taken.code, 1)
        self.assertIn("cannot listen on 127.0.0.1", taken.stderr)
        newer = self.box.wait_for("news", lambda: (got := self.ask(port, token=token)[1]) != text and got,
                                  running=watch)
        self.assertEqual(sorted(families(newer)), sorted(families(text)))
        self.box.end(job)
        done = watch.finish()
        self.assertWorked(done)
        self.assertEqual(done.stdout, "")

    def test_what_it_is_not_for(self):
        path = self.box.directory / "run.h5"
        self.assertWorked(self.box.traced(2, harness.program("ring", "openmpi"), options=("--dump", path)))
        done = self.box.pclscope("watch", path, "--metrics-http", "0")
        self.assertEqual(done.code, 2)
        self.assertIn("--metrics-http is for running jobs", done.stderr)
        for wrong in (("--metrics-http", "70000"), ("--metrics-http", "0", "--once")):
            self.assertEqual(self.box.pclscope("watch", path, *wrong).code, 2)

    def test_the_dashboard(self):
        """Every metric and label that it asks for is one that is written, and all that is written is asked for."""
        path, text = self.box.directory / "run.h5", self.box.directory / "metrics"
        written = {}
        for command in (("late_sender", "50", "2000"), ("markers", str(self.box.directory), "4", "100")):
            self.assertWorked(self.box.traced(2, harness.program(command[0], "openmpi"), *command[1:],
                                              options=("--dump", path)))
            self.assertWorked(self.box.pclscope("watch", path, "--once", "--metrics", text))
            found = families(text.read_text())
            written = {name: labels or found[name] for name, labels in (written or found).items()}
        self.assertNotIn(None, written.values(), "there are samples of all")
        asked = list(expressions(json.loads(DASHBOARD.read_text())))
        self.assertGreater(len(asked), 10)
        names = set()
        for expression in asked:
            here = set(NAME.findall(expression))
            self.assertTrue(here, expression)
            names |= here
            for name in here:
                self.assertIn(name, written, expression)
            labels = re.findall(r"[{,]\s*([a-z_]+)\s*=~?", expression) + [
                label.strip() for group in re.findall(r"\bby \(([^)]*)\)", expression) for label in group.split(",")]
            known = set().union(*(written[name] for name in here))
            for label in labels:
                self.assertIn(label, known, expression)
        self.assertEqual(sorted(set(written) - names), [], "metrics that no panel shows")


if __name__ == "__main__":
    harness.main()
