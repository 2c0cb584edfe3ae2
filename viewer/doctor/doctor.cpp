// pclscope doctor: what would stop a run on this machine.
#include "analysis/installation/installation.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/commands/pieces.hpp"
#include "viewer/doctor/checks.hpp"
#include "viewer/launch/container.hpp"

namespace pclscope::commands {
namespace {

// Either MPI's library lies in the same folder.
int print_container_needs() {
  std::string text;
  for (const std::string& line : launch::container_lines(
           launch::container_needs(library_part("libpclscope-openmpi.so"), environment_or("TMPDIR", ""))))
    text += line + "\n";
  return print(text) ? done : could_not;
}

}  // namespace

int doctor(const std::vector<std::string>& words) {
  CLI::App app{"Looks for what would stop a run on this machine, or make it less than it could be.", "pclscope doctor"};
  int ranks = 0;
  bool json = false, container = false;
  app.add_option("-n,--ranks", ranks, "Ranks that a run has on this node (default: as many as cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20).description(""));
  app.add_flag("--json", json, "As JSON");
  app.add_flag("--container", container, "What a container must share with its node for the application in it");
  set_usage(app, "pclscope doctor [-n N] [--json] | --container");
  app.footer(
      "Exit status: 1 when a run would fail. Of several nodes: call it on one of them, inside the job's script.");
  if (const auto status = parse(app, words)) return *status;
  if (container) return print_container_needs();
  const auto checks =
      doctor::judge(doctor::look_around(app.count("--ranks") > 0 ? std::optional<int>(ranks) : std::nullopt));
  if (!print(json ? doctor::as_json(checks) : doctor::as_text(checks))) return could_not;
  return doctor::would_fail(checks) ? could_not : done;
}

}  // namespace pclscope::commands
