"""An installation is whole, and can be moved, also to a path with blanks: a job, its record and the window's picture,
as another user than the one who installed it.
Depends on: launcher."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import harness

NOBODY = 65534


class Install(harness.SystemTest):
    def install(self, to):
        """The folder of an installation, which was moved there after it was made."""
        before, after = self.box.directory / "before", self.box.directory / to
        shutil.rmtree(after, ignore_errors=True)
        self.assertWorked(self.box.run("cmake", "--install", harness.BUILD, "--prefix", before))
        before.rename(after)
        return after

    def another_user(self):
        """Words that start a program as another user, who has a folder of its own; none where we are not root."""
        home = self.box.directory / "home"
        home.mkdir(exist_ok=True)
        if os.getuid() != 0:
            return [], home
        self.box.directory.chmod(0o755)
        os.chown(home, NOBODY, NOBODY)
        library = self.box.environment.get("LD_PRELOAD")  # in a folder that others need not be able to read
        settings = [f"HOME={home}", f"XDG_RUNTIME_DIR={home}", f"PCLSCOPE_SHARED={home}/shared", f"TMPDIR={home}"]
        if library:
            settings.append(f"LD_PRELOAD={shutil.copy(library, self.box.directory)}")
        links = pathlib.Path(f"/tmp/pclscope-{NOBODY}")  # to the library, as its path has blanks
        if not links.exists():
            self.addCleanup(shutil.rmtree, links, ignore_errors=True)
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env", *settings], home

    @harness.on_every_mpi
    def test_a_moved_installation_works_for_another_user(self, mpi):
        where = self.install("moved to another place: here")
        user, home = self.another_user()
        pclscope = where / "bin" / "pclscope"
        self.assertEqual([path.name for path in (where / "bin").iterdir()], ["pclscope"])
        dump = home / f"{mpi}.h5"
        program = shutil.copy(harness.program("late_sender", mpi), self.box.directory)
        command = (program, "20", "1000")
        bare = self.box.bare(mpi, 2, *command)
        done = self.box.run(*user, pclscope, "run", "--quiet", "-n", "2", "--dump", dump, "--", *command)
        self.assertWorked(done)
        self.assertEqual((done.our_lines(), done.stdout), ([], bare.stdout), str(done))
        if user:
            self.assertEqual(dump.stat().st_uid, NOBODY)
        shown = self.box.run(*user, pclscope, "inspect", dump, "--json")
        self.assertWorked(shown)
        self.assertIn('"matched": 20', shown.stdout)
        calls = self.box.run(*user, pclscope, "inspect", dump, "calls").stdout
        self.assertIn("late_sender.c:", calls, "lines of the source")
        picture = home / f"{mpi}.png"
        seen = self.box.run(*user, pclscope, "view", dump, "--screenshot", picture)
        if "no viewer" not in seen.stderr:
            self.assertWorked(seen)
            self.assertEqual(picture.read_bytes()[:4], b"\x89PNG")

    def test_what_is_installed(self):
        where = self.install("moved to another place")  # pkg-config's own search path knows no colons
        programs = {path.name for path in (where / "libexec" / "pclscope").iterdir()}
        libraries = {path.name for path in (where / "lib").rglob("*.so")}
        aggregators = {f"pclscope-aggregator-{mpi}" for mpi in harness.MPIS}
        self.assertLessEqual({"pclscope-rank", "pclscope-lines", *aggregators}, programs)
        self.assertEqual(libraries, {f"libpclscope-{mpi}.so" for mpi in harness.MPIS})
        share = where / "share"
        documents = share / "doc" / "pclscope"
        self.assertTrue((documents / "LICENSE").exists())
        self.assertTrue((documents / "docs" / "commands.md").exists())
        for path in [*(where / "libexec" / "pclscope").iterdir(), *(where / "lib").rglob("*.so")]:
            told = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
            self.assertNotIn(str(harness.BUILD), told, f"{path}: looks for libraries in the build folder")
        for path in [where / "libexec" / "pclscope" / "pclscope-rank", *(where / "lib").rglob("*.so")]:
            self.runs_with_old_systems(path)
        if "pclscope-view" in programs:
            entry = (share / "applications" / "pclscope.desktop").read_text()
            icon = re.search(r"^Icon=(.*)$", entry, re.MULTILINE)[1]
            self.assertTrue((share / "icons/hicolor/scalable/apps" / f"{icon}.svg").exists())
        self.manual(share / "man" / "man1")
        self.completion(share / "bash-completion" / "completions" / "pclscope")
        self.marked_program(where)

    def runs_with_old_systems(self, path):
        """What is inside the application needs glibc 2.28 (RHEL 8) or less, and nothing but the C library."""
        told = subprocess.run(["readelf", "-dVW", path], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"\(NEEDED\)\s.*\[(.*)\]", told))
        self.assertIn("libc.so.6", needed)
        self.assertLessEqual(needed, {"libc.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2"}, path)
        versions = {tuple(map(int, version.split("."))) for version in re.findall(r"\bGLIBC_([0-9.]+)", told)}
        self.assertIn((2, 2, 5), versions)
        self.assertLessEqual(max(versions), (2, 28), path)

    def commands(self):
        """Those that are built: all but `view` where there is no window."""
        listed = re.findall(r"^  ([a-z]+)  ", self.box.pclscope("--help").stdout, re.MULTILINE)
        built = [command for command in listed if self.box.pclscope(command, "--help").code == 0]
        self.assertLessEqual(set(listed) - set(built), {"view"})
        return built

    def manual(self, pages):
        """A page for each command, with each of its options."""
        commands = self.commands()
        self.assertIn("inspect", commands)
        self.assertEqual({path.name for path in pages.iterdir()},
                         {"pclscope.1", *(f"pclscope-{command}.1" for command in commands)})
        for command in commands:
            page = (pages / f"pclscope-{command}.1").read_text().replace("\\-", "-")
            options = re.findall(r"^  (?:-\w,)?(--[a-z-]+)", self.box.pclscope(command, "--help").stdout, re.MULTILINE)
            self.assertIn("--help", options)
            for option in options:
                self.assertIn(f"\\fB{option}\\fR", page, command)

    def completion(self, script):
        def completed(*words):
            asked = " ".join(shlex.quote(word) for word in words)
            done = self.box.run("bash", "-c", f'. "$0"; COMP_WORDS=({asked}); COMP_CWORD={len(words) - 1}; _pclscope; '
                                'printf "%s\\n" "${COMPREPLY[@]}"', script)
            self.assertEqual((done.code, done.stderr), (0, ""), str(done))
            return done.stdout.split()

        self.assertEqual(completed("pclscope", "ins"), ["inspect"])
        self.assertEqual(completed("pclscope", "run", "--overflow", ""), ["wait", "drop"])
        self.assertIn("--ring-events", completed("pclscope", "run", "--ring"))
        self.assertEqual(completed("pclscope", "inspect", "a.h5", "crit"), ["criteria"])
        dump = self.box.directory / "some dump.h5"
        dump.touch()
        self.assertEqual(completed("pclscope", "run", "--dump", str(dump)[:-3]), str(dump).split())

    def marked_program(self, where):
        """A program with markers is compiled by what pkg-config and CMake are told, wherever that was moved."""
        source = self.box.directory / "marked.c"
        source.write_text('#include <pclscope.h>\nint main(void) { pclscope_begin("all"); pclscope_end("all"); '
                          "return 0; }\n")
        asked = ["env", f"PKG_CONFIG_PATH={next((where / 'lib').rglob('pkgconfig'))}", "pkg-config"]
        flags = self.box.run(*asked, "--cflags", "pclscope")
        self.assertWorked(flags)
        marked = self.box.directory / "marked"
        self.assertWorked(self.box.run("cc", source, *shlex.split(flags.stdout), "-o", marked))
        self.assertWorked(self.box.run(marked))
        (self.box.directory / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(marked C)\nfind_package(pclscope REQUIRED)\n"
            "add_executable(marked marked.c)\ntarget_link_libraries(marked PRIVATE pclscope::marker)\n")
        built = self.box.directory / "built"
        self.assertWorked(self.box.run("cmake", "-S", self.box.directory, "-B", built, f"-DCMAKE_PREFIX_PATH={where}"))
        self.assertWorked(self.box.run("cmake", "--build", built))
        self.assertWorked(self.box.run(built / "marked"))


if __name__ == "__main__":
    harness.main()
