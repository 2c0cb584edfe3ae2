"""Spack's recipe. `spack repo create` a repository, put this file into packages/pclscope/ there, and
`spack install pclscope`; the MPIs that it is built for are variants, as it serves several side by side."""
from spack.package import *


class Pclscope(CMakePackage):
    """Where, when and why messages of MPI programs are late: a preloaded library and an aggregator inside the job, and
    viewers for the terminal and the desktop."""

    license("Apache-2.0")
    # Where the sources lie is the site's: `spack develop -p /path/to/pclscope pclscope@main`, or a mirror.
    version("main", branch="main")

    variant("openmpi", default=True, description="Record programs of Open MPI")
    variant("mpich", default=False, description="Record programs of MPICH, and of MPIs with its ABI")
    variant("gui", default=False, description="Build the window")
    conflicts("~openmpi~mpich", msg="one MPI at least is needed")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type="build")
    depends_on("eigen", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("cppzmq", type="build")
    depends_on("flatbuffers")
    depends_on("libzmq")
    depends_on("hdf5~mpi")
    depends_on("isa-l")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("elfutils")
    depends_on("hwloc")
    depends_on("scotch~mpi")
    depends_on("ncurses")
    depends_on("openmpi", when="+openmpi")
    depends_on("mpich", when="+mpich")
    depends_on("cairo", when="+gui")
    depends_on("glfw", when="+gui")
    depends_on("gl", when="+gui")

    def cmake_args(self):
        prefixes = [self.spec[mpi].prefix for mpi in ("openmpi", "mpich") if self.spec.satisfies("+" + mpi)]
        return [
            self.define("PCLSCOPE_MPI_PREFIXES", prefixes),
            self.define("PCLSCOPE_GUI", "ON" if self.spec.satisfies("+gui") else "OFF"),
            self.define("PCLSCOPE_TESTS", False),
            self.define("PCLSCOPE_BENCHMARKS", False),
            self.define("PCLSCOPE_CCACHE", False),
        ]
