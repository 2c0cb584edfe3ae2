"""An MPI in a folder of its own, without Debian's names: its mpirun is taken, and the aggregator uses that library,
too, under whatever name. Copies of Debian's MPIs stand for it.
Depends on: launcher."""
import pathlib
import re
import shutil
import subprocess

import harness

SOURCE = """#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 50; ++i) {
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  while (rank == 0 && access(argv[1], F_OK) != 0) usleep(10000);
  MPI_Finalize();
  if (rank == 0) puts("done");
}
"""


class PrivateMpi(harness.SystemTest):
    def prefix(self, mpi):
        """PREFIX/bin/mpirun, PREFIX/lib/libmpi.so.N: what MPICH's own installation has, and Debian's does not."""
        prefix = self.box.directory / f"{mpi} of a module"
        for folder in ("bin", "lib"):
            (prefix / folder).mkdir(parents=True)
        (prefix / "bin" / "mpirun").symlink_to(shutil.which(f"mpirun.{mpi}"))
        if proxy := shutil.which("hydra_pmi_proxy"):  # MPICH's mpirun looks for it beside itself
            (prefix / "bin" / "hydra_pmi_proxy").symlink_to(proxy)
        linked = subprocess.run(["ldd", harness.program("late_sender", mpi)], capture_output=True, text=True,
                                check=True)
        library = pathlib.Path(re.search(r"=> (\S*/libmpi(?:ch)?\.so\S*)", linked.stdout)[1]).resolve()
        soname = {"openmpi": "libmpi.so.40", "mpich": "libmpi.so.12"}[mpi]
        content = library.read_bytes()
        if mpi == "mpich":  # where its own name is told, and nowhere else
            self.assertEqual(content.count(b"libmpich.so.12\0"), 1)
            content = content.replace(b"libmpich.so.12\0", b"libmpi.so.12\0\0\0")
        (prefix / "lib" / soname).write_bytes(content)
        return prefix, prefix / "lib" / soname

    @harness.on_every_mpi
    def test_the_aggregator_takes_the_applications_own_mpi(self, mpi):
        prefix, library = self.prefix(mpi)
        source, program = self.box.directory / f"{mpi}.c", self.box.directory / f"two-{mpi}"
        source.write_text(SOURCE)
        flags = subprocess.run([f"mpicc.{mpi}", "-show"], capture_output=True, text=True, check=True).stdout.split()
        includes = [word for word in flags if word.startswith("-I")]
        self.assertWorked(self.box.run("gcc", *includes, "-w", source, library, "-o", program,
                                       f"-Wl,-rpath,{prefix / 'lib'}"))
        needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"[{library.name}]", needed)
        dump, end = self.box.directory / f"{mpi}.h5", self.box.directory / f"{mpi}-end"
        running = self.box.start(harness.PCLSCOPE, "run", "--quiet", "-n", "2", "--dump", dump, "--", program, end)
        self.box.job_name(running)  # announced: everything is loaded
        (worker,) = self.box.aggregator_workers()
        maps = pathlib.Path(f"/proc/{worker}/maps").read_text()
        mapped = {line.split(maxsplit=5)[5] for line in maps.splitlines() if re.search(r"/libmpi(ch)?\.so", line)}
        self.assertEqual(mapped, {str(library)})
        end.touch()
        done = running.finish()
        self.assertWorked(done)
        self.assertEqual((done.stdout, done.our_lines()), ("done\n", []), str(done))
        self.assertComplete(self.box.json("inspect", dump, "--json"), 2, matched=50)


if __name__ == "__main__":
    harness.main()
