"""pclscope is built with MPIs in folders that have none of Debian's names: PREFIX/bin/mpicc, PREFIX/include and
PREFIX/lib, links to Debian's files. A part of ci/nightly, as it builds. Depends on: launcher."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import harness

WRAPPERS = {
    "openmpi": """#!/bin/sh
prefix="@PREFIX@"
case "$1" in
  --showme:compile) echo "-I$prefix/include" ;;
  --showme:link) echo "-L$prefix/lib -Wl,-rpath -Wl,$prefix/lib -lmpi" ;;
  *) exec gcc "-I$prefix/include" "$@" "-L$prefix/lib" -Wl,-rpath -Wl,"$prefix/lib" -lmpi ;;
esac
""",
    "mpich": """#!/bin/sh
prefix="@PREFIX@"
words="-I$prefix/include -L$prefix/lib -Wl,-rpath -Wl,$prefix/lib -lmpi"
case "$1" in
  -show) echo "gcc $words" ;;
  -*_info) exit 1 ;;
  *) exec gcc "-I$prefix/include" "$@" "-L$prefix/lib" -Wl,-rpath -Wl,"$prefix/lib" -lmpi ;;
esac
"""}
BUILD = harness.SOURCE / "build" / "nightly" / "prefix"


class PlainPrefix(harness.SystemTest):
    def prefix(self, mpi):
        prefix = BUILD / mpi
        shutil.rmtree(prefix, ignore_errors=True)
        for folder in ("bin", "lib"):
            (prefix / folder).mkdir(parents=True)
        told = subprocess.run([f"mpicc.{mpi}", "-show"], capture_output=True, text=True, check=True).stdout.split()
        include = next(word[2:] for word in told if word.startswith("-I"))
        (prefix / "include").symlink_to(include)
        linked = subprocess.run(["ldd", harness.program("late_sender", mpi)], capture_output=True, text=True,
                                check=True).stdout
        name, path = re.search(r"(libmpi(?:ch)?\.so\S*) => (\S+)", linked).groups()
        for link in ("libmpi.so", name):
            (prefix / "lib" / link).symlink_to(pathlib.Path(path).resolve())
        for program in (f"mpirun.{mpi}", "hydra_pmi_proxy"):
            (prefix / "bin" / program.partition(".")[0]).symlink_to(shutil.which(program))
        wrapper = prefix / "bin" / "mpicc"
        wrapper.write_text(WRAPPERS[mpi].replace("@PREFIX@", str(prefix)))
        wrapper.chmod(0o755)
        return prefix, include

    def test_built_with_plain_prefixes(self):
        made = {mpi: self.prefix(mpi) for mpi in harness.MPIS}
        prefixes = ";".join(str(prefix) for prefix, _ in made.values())
        build = BUILD / "build"
        plainly = ["env", "-u", "XDG_RUNTIME_DIR", "-u", "LD_PRELOAD"]  # ccache has files in the first
        configured = self.box.run(*plainly, "cmake", "-S", harness.SOURCE, "-B", build, "-G", "Ninja",
                                  "-DCMAKE_BUILD_TYPE=Release", "-DPCLSCOPE_TESTS=OFF", "-DPCLSCOPE_BENCHMARKS=OFF",
                                  "-DPCLSCOPE_GUI=OFF", f"-DPCLSCOPE_MPI_PREFIXES={prefixes}")
        self.assertWorked(configured)
        self.assertIn("window: no (PCLSCOPE_GUI=OFF)", configured.stdout)
        for mpi, (prefix, _) in made.items():
            self.assertIn(f"{mpi}: {prefix}/bin/mpicc (", configured.stdout)
        self.assertWorked(self.box.run(*plainly, "cmake", "--build", build, "-j", str(os.cpu_count()), timeout=3600))
        commands = {entry["command"] for entry in json.loads((build / "compile_commands.json").read_text())}
        for mpi, (prefix, include) in made.items():
            self.assertTrue(any(f"{prefix}/include" in command for command in commands))
            self.assertFalse(any(f"{include} " in command for command in commands), include)
            source = harness.SOURCE / "tests" / "programs" / "late_sender.c"
            program, dump = self.box.directory / f"late-{mpi}", self.box.directory / f"{mpi}.h5"
            self.assertWorked(self.box.run(prefix / "bin" / "mpicc", "-w", source, "-o", program))
            done = self.box.run(build / "bin" / "pclscope", "run", "--quiet", "-n", "2", "--dump", dump, "--", program,
                                "20", "1000")
            self.assertWorked(done)
            self.assertEqual(done.our_lines(), [], str(done))
            self.assertComplete(self.box.json("inspect", dump, "--json"), 2, matched=20)


if __name__ == "__main__":
    harness.main()
