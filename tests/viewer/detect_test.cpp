#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "analysis/elf/dynamic.hpp"
#include "tests/patience.hpp"
#include "viewer/launch/capture.hpp"
#include "viewer/launch/detect_mpi.hpp"
#include "viewer/launch/launcher.hpp"
#include "viewer/launch/program.hpp"

using namespace pclscope;
using namespace pclscope::launch;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "pclscope-detect-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string write(const std::string& name, const std::string& content, bool executable = true) const {
    const std::string file = path + "/" + name;
    std::ofstream(file, std::ios::binary) << content;
    fs::permissions(file, executable ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_write);
    return file;
  }
  std::string path;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const char* path_variable() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/bin:/bin";
}

Surroundings surroundings(const std::string& first_path = "") {
  return {(first_path.empty() ? "" : first_path + ":") + path_variable(), system_search_path("", "/etc/ld.so.conf")};
}

Detection detect(const std::string& program, std::vector<std::string> command = {},
                 const std::string& first_path = "") {
  if (command.empty()) command = {program};
  return detect_mpi(program, command, surroundings(first_path));
}

}  // namespace

#ifdef PCLSCOPE_LINKS_OPENMPI
TEST_CASE("a program linked with Open MPI is recognised") {
  const Detection found = detect(PCLSCOPE_LINKS_OPENMPI);
  CHECK(found.mpi == Mpi::openmpi);
  CHECK(found.certain);
  CHECK_FALSE(found.library.empty());
}
#endif

#ifdef PCLSCOPE_LINKS_MPICH
TEST_CASE("a program linked with MPICH is recognised") {
  const Detection found = detect(PCLSCOPE_LINKS_MPICH);
  CHECK(found.mpi == Mpi::mpich);
  CHECK(found.certain);
}

TEST_CASE("a program behind one that starts it is recognised, as a guess") {
  const Detection found = detect("/usr/bin/env", {"env", "A=b", PCLSCOPE_LINKS_MPICH, "x"});
  CHECK(found.mpi == Mpi::mpich);
  CHECK_FALSE(found.certain);
}
#endif

TEST_CASE("LAMMPS as packaged links Open MPI, through a library or directly") {
  if (!fs::exists("/usr/bin/lmp")) return;
  const Detection found = detect("/usr/bin/lmp");
  CHECK(found.mpi == Mpi::openmpi);
  CHECK(found.certain);
}

TEST_CASE("a program without MPI links none") {
  const Detection found = detect("/bin/true");
  CHECK_FALSE(found.mpi);
  CHECK(found.no_mpi);
}

TEST_CASE("interpreters and scripts cannot tell") {
  const Folder folder;
  for (const std::string& program : {std::string("/bin/bash"), folder.write("job.sh", "#!/bin/sh\necho hello\n"),
                                     folder.write("text", "no magic at all")}) {
    INFO(program);
    const Detection found = detect(program);
    CHECK_FALSE(found.mpi);
    CHECK_FALSE(found.no_mpi);
    CHECK_FALSE(found.certain);
  }
}

TEST_CASE("python is judged by its mpi4py") {
  if (!capture({"/usr/bin/python3", "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('mpi4py') is None)"},
               test::patience)) {
    return;
  }
  const auto expected = detect_linked("/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so",
                                      system_search_path("", "/etc/ld.so.conf"));
  if (!expected.mpi) return;  // another python than the one this machine is packaged with
  const Detection direct = detect("/usr/bin/python3", {"python3", "x.py"});
  CHECK(direct.mpi == expected.mpi);
  CHECK_FALSE(direct.certain);
  const Folder folder;
  const Detection script = detect(folder.write("s.py", "#!/usr/bin/python3\n"), {"./s.py"}, "/usr/bin");
  CHECK(script.mpi == expected.mpi);
}

TEST_CASE("truncated programs are no programs, and no crash") {
  const Folder folder;
  const std::string whole = content_of("/bin/true");
  REQUIRE(elf::read_elf("/bin/true"));
  std::size_t refused = 0;
  for (std::size_t size = 0; size < 4096; size += 37) {
    refused += !elf::read_elf(folder.write("cut", whole.substr(0, size)));
    detect(folder.path + "/cut");
  }
  CHECK(refused == (4096 + 36) / 37);
  CHECK(elf::looks_like_elf(folder.write("magic", whole.substr(0, 4))));
  CHECK_FALSE(elf::read_elf(folder.path + "/missing"));
  CHECK_FALSE(elf::read_elf(folder.path));
  CHECK_FALSE(elf::read_elf("/dev/zero"));
}

TEST_CASE("garbled programs do not crash the reader") {
  const auto seed = GENERATE(1u, 2u, 3u);
  INFO("seed " << seed);
  const Folder folder;
  const std::string whole = content_of("/bin/true");
  std::mt19937 random(seed);
  for (int round = 0; round < 150; ++round) {
    std::string bytes = whole;
    // The header, the program headers, and anywhere: where the reader looks.
    for (int i = 0; i < 12; ++i) bytes[random() % (i < 6 ? 1024 : bytes.size())] = static_cast<char>(random());
    detect(folder.write("garbled", bytes));
  }
  SUCCEED();
}

TEST_CASE("programs are found as a shell finds them") {
  const Folder folder;
  folder.write("tool", "#!/bin/sh\n");
  folder.write("data", "x", false);
  CHECK(find_program("tool", "/nowhere:" + folder.path).path == folder.path + "/tool");
  CHECK(find_program("tool", "/nowhere").state == ProgramState::missing);
  CHECK(find_program("data", folder.path).state == ProgramState::not_executable);
  CHECK(find_program(folder.path, "").state == ProgramState::not_executable);
  CHECK(find_program(folder.path + "/tool", "").state == ProgramState::found);
  CHECK(find_program("", folder.path).state == ProgramState::missing);
  CHECK(script_interpreter(folder.write("a", "#!/usr/bin/env -S python3 -u\n")) == "python3");
  CHECK(script_interpreter(folder.write("b", "#! /bin/bash -e")) == "bash");
  CHECK(script_interpreter("/bin/true").empty());
  CHECK(script_interpreter(folder.write("c", "")).empty());
}

TEST_CASE("a launcher is known by its real name or by what it says") {
  const Folder folder;
  CHECK(identify_launcher(folder.write("mpirun", "#!/bin/sh\necho 'mpirun (Open MPI) 5.0.1'\n")) == Mpi::openmpi);
  CHECK(identify_launcher(folder.write("mpiexec", "#!/bin/sh\necho 'HYDRA build details:'\n")) == Mpi::mpich);
  CHECK_FALSE(identify_launcher(folder.write("other", "#!/bin/sh\necho srun 22\n")));
  CHECK_FALSE(identify_launcher(folder.write("broken", "#!/bin/sh\nexit 1\n")));
  fs::create_symlink(folder.write("orterun", "#!/bin/sh\nexit 1\n"), folder.path + "/link");
  CHECK(identify_launcher(folder.path + "/link") == Mpi::openmpi);
}

TEST_CASE("the launcher fits the MPI, not the path") {
  const Folder folder;
  folder.write("mpirun", "#!/bin/sh\necho 'HYDRA build details:'\n");
  CHECK(find_launcher(Mpi::mpich, "", folder.path)->path == folder.path + "/mpirun");
  CHECK_FALSE(find_launcher(Mpi::openmpi, "", folder.path));
  folder.write("mpirun.openmpi", "#!/bin/sh\n");
  CHECK(find_launcher(Mpi::openmpi, "", folder.path)->path == folder.path + "/mpirun.openmpi");
  CHECK(default_launcher(folder.path)->mpi == Mpi::mpich);
  CHECK_FALSE(default_launcher("/nowhere"));
}

TEST_CASE("a private installation brings its own launcher") {
  const Folder folder;
  fs::create_directories(folder.path + "/bin");
  folder.write("bin/mpirun", "#!/bin/sh\necho 'mpirun (Open MPI) 5.0.1'\n");
  folder.write("mpirun.openmpi", "#!/bin/sh\n");
  CHECK(find_launcher(Mpi::openmpi, folder.path + "/lib/libmpi.so.40", folder.path)->path ==
        folder.path + "/bin/mpirun");
  CHECK(find_launcher(Mpi::openmpi, "/usr/lib/x86_64-linux-gnu/libmpi.so.40", folder.path)->path ==
        folder.path + "/mpirun.openmpi");
}

TEST_CASE("the system's MPI library is nobody's own; a module's is, also below the system's folders") {
  for (const char* system : {"", "/usr/lib/x86_64-linux-gnu/libmpich.so.12", "/usr/lib64/libmpi.so.40",
                             "/usr/local/lib/libmpi.so.40", "/lib/libmpi.so.12"})
    CHECK(private_library(system).empty());
  for (const char* own : {"/opt/openmpi/5.0/lib/libmpi.so.40", "/apps/intel/lib/release/libmpi.so.12",
                          "/usr/lib64/openmpi/lib/libmpi.so.40"})
    CHECK(private_library(own) == own);
}

TEST_CASE("a helper that hangs is ended in time") {
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(capture({"/bin/sh", "-c", "sleep 3000 & sleep 3000"}, std::chrono::milliseconds(200)));
  CHECK(std::chrono::steady_clock::now() - begin < test::patience);
  CHECK(capture({"/bin/echo", "x"}, test::patience) == "x\n");
  CHECK_FALSE(capture({"/nowhere/x"}, test::patience));
}
