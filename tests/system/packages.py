"""The packages, used: LAMMPS is run and looked at by another user, from a path with blanks, out of `cmake --install`,
the tree in one file, and the .deb packages that apt installs in a Debian of their own. A part of ci/nightly, as it
fetches packages.
Depends on: launcher."""
import os
import pathlib
import shutil
import subprocess
import unittest

import harness

NOBODY = 65534
MELT = harness.DATA / "lammps" / "melt.in"
# A shell's lines: what programs expect to be mounted, then a command in that root.
MOUNTS = """mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --make-rslave "$1/dev" &&
mount -t tmpfs -o size=512m tmpfs "$1/dev/shm" && cp /etc/resolv.conf "$1/etc/resolv.conf" || exit 99
root="$1"; shift; chroot "$root" "$@" """


# The same for a root that holds only the application: what is shared with the node, and the tool.
SHARED = """mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --rbind /tmp "$1/tmp" &&
mkdir -p "$1/$2" && mount --bind "$2" "$1/$2" && shift 2 && "$@" """


def archive():
    """Where this machine gets Debian's packages from, and what it calls that release."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME) $(ORIGIN)",
                             "Created-By: Packages"], capture_output=True, text=True, check=False).stdout
    for line in listed.splitlines():
        site, _, rest = line.partition(" ")
        codename, _, origin = rest.partition(" ")
        if origin == "Debian" and "-" not in codename:
            return site, codename
    raise unittest.SkipTest("no sources of Debian's packages here")


def without_preload(*words):
    return ["env", "-u", "LD_PRELOAD", *words]


class Packages(harness.SystemTest):
    def setUp(self):
        super().setUp()
        self.box.directory.chmod(0o755)
        self.home = self.box.directory / "some user's home"
        self.made = self.box.directory / "packages"
        links = pathlib.Path(f"/tmp/pclscope-{NOBODY}")  # to the library, as its path has blanks
        if not links.exists():
            self.addCleanup(shutil.rmtree, links, ignore_errors=True)

    def pack(self, generator):
        self.assertWorked(self.box.run("cpack", "-G", generator, "-B", self.made, directory=harness.BUILD))

    def user(self, home):
        """Words that begin a program of another user."""
        settings = [f"HOME={home}", f"XDG_RUNTIME_DIR={home}", f"PCLSCOPE_SHARED={home}/shared", f"TMPDIR={home}"]
        if os.getuid() != 0:
            return ["env", "-u", "LD_PRELOAD", *settings]
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                "env", "-u", "LD_PRELOAD", *settings]

    def make_home(self, home):
        home.mkdir(parents=True)
        shutil.copy(MELT, home)
        if os.getuid() == 0:
            os.chown(home, NOBODY, NOBODY)

    def lammps(self, pclscope, home, before=(), picture=True):
        """Runs it on 4 ranks, then asks the dump."""
        start = [*before, *self.user(home), pclscope]
        dump = f"{home}/run.h5"
        done = self.box.run(*start, "run", "--quiet", "-n", "4", "--dump", dump, "--", "lmp", "-log", "none", "-in",
                            f"{home}/melt.in", "-var", "steps", "200", "-var", "every", "100")
        self.assertWorked(done)
        self.assertEqual(done.our_lines(), [], str(done))
        self.assertIn("Loop time", done.stdout)
        shown = self.box.run(*start, "inspect", dump, "--csv", "ranks")
        self.assertWorked(shown)
        self.assertEqual(len(shown.stdout.splitlines()), 5, str(shown))
        if picture:
            self.assertWorked(self.box.run(*start, "view", dump, "--screenshot", f"{home}/run.png"))

    def test_installed_by_cmake(self):
        self.make_home(self.home)
        where = self.box.directory / "installed by cmake"
        self.assertWorked(self.box.run("cmake", "--install", harness.BUILD, "--prefix", where))
        self.lammps(where / "bin" / "pclscope", self.home)

    def test_unpacked_anywhere(self):
        self.make_home(self.home)
        self.pack("TZST")
        where = self.box.directory / "unpacked there"
        where.mkdir()
        self.assertWorked(self.box.run("tar", "-C", where, "-xf", next(self.made.glob("*.tar.zst"))))
        (tree,) = where.iterdir()
        self.lammps(tree / "bin" / "pclscope", self.home)

    def test_installed_by_apt(self):
        if os.getuid() != 0 or not shutil.which("debootstrap"):
            self.skipTest("not root, or no debootstrap")
        self.pack("DEB")
        site, codename = archive()
        root = self.box.directory / "root"
        self.assertWorked(self.box.run(*without_preload("debootstrap", "--variant=minbase", codename, root, site),
                                       timeout=1200))
        for package in self.made.glob("*.deb"):
            shutil.copy(package, root / "tmp")
        names = {path.name.split("_")[0] for path in self.made.glob("*.deb")}
        self.assertLessEqual({"pclscope", "pclscope-gui", "pclscope-dev", "pclscope-openmpi"}, names)
        inside = [*without_preload("unshare"), "--mount", "--ipc", "sh", "-c", MOUNTS, "sh", root]
        self.assertWorked(self.box.run(
            *inside, "sh", "-c", "apt-get update -q && DEBIAN_FRONTEND="
            "noninteractive apt-get install -q -y --no-install-recommends /tmp/*.deb lammps openmpi-bin "
            "fonts-dejavu-core libgl1-mesa-dri libegl-mesa0", timeout=1800))
        home = pathlib.Path("/home/some user")
        self.make_home(root / home.relative_to("/"))
        self.lammps("/usr/bin/pclscope", home, inside)
        self.assertWorked(self.box.run(*inside, "apt-get", "remove", "-q", "-y", *sorted(names)))
        left = [path for path in (root / "usr").rglob("*pclscope*")]
        self.assertEqual(left, [])

    def test_an_application_in_an_older_system(self):
        """Of Debian 11 (glibc 2.31): recorded by what was linked with a newer C library."""
        if os.getuid() != 0 or not shutil.which("debootstrap"):
            self.skipTest("not root, or no debootstrap")
        root = self.box.directory / "root"
        self.assertWorked(self.box.run(*without_preload("debootstrap", "--variant=minbase", "bullseye", root,
                                                        archive()[0]), timeout=1200))
        inside = [*without_preload("unshare"), "--mount", "--ipc", "sh", "-c", MOUNTS, "sh", root]
        self.assertWorked(self.box.run(
            *inside, "sh", "-c", "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y "
            "--no-install-recommends lammps openmpi-bin", timeout=1800))
        self.make_home(self.home)
        where = self.box.directory / "tool"
        self.assertWorked(self.box.run("cmake", "--install", harness.BUILD, "--prefix", where))
        dump = self.home / "old.h5"
        script = pathlib.Path(shutil.copy(MELT, root / "srv"))
        done = self.box.run(*without_preload("TMPDIR=/tmp", "unshare"), "--mount", "--ipc", "sh", "-c", SHARED, "sh",
                            root, where, where / "bin" / "pclscope", "run", "--quiet", "--mpi", "openmpi", "-n", "2",
                            "--dump", dump, "--", shutil.which("chroot"), root, "/usr/bin/lmp", "-log", "none", "-in",
                            f"/srv/{script.name}", "-var", "steps", "50", "-var", "every", "50")
        self.assertWorked(done)
        self.assertEqual(done.our_lines(), [], str(done))
        messages = self.box.json("inspect", dump, "--json")["messages"]
        self.assertGreater(messages["matched"], 100)
        self.assertEqual((messages["unmatched_sends"], messages["dropped_events"]), (0, 0))


if __name__ == "__main__":
    harness.main()
