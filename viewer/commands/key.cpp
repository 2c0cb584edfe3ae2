// pclscope key: the user's keys for TCP endpoints. The secret parts are never printed.
#include "analysis/wire/curve_keys.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"

namespace pclscope::commands {

int key(const std::vector<std::string>& words) {
  CLI::App app{"Shows where your keys for TCP endpoints are, and their public part; makes them on first use.",
               "pclscope key"};
  bool path_only = false, renew = false;
  app.add_flag("--path", path_only, "Print the path of the file only");
  app.add_flag("--new", renew, "Replace the keys; running jobs keep the old ones");
  set_usage(app, "pclscope key [--path] [--new]");
  app.footer(
      "Viewers elsewhere need the same file: copy it (scp -p), mode 0600. PCLSCOPE_KEY_FILE names another place.");
  if (const auto status = parse(app, words)) return *status;
  const auto path = wire::key_file_path();
  if (!path) return fail(could_not, path.error().message);
  const auto keys = renew ? wire::replace_keys(*path) : wire::load_or_create_keys(*path);
  if (!keys) return fail(could_not, keys.error().message);
  if (renew) say("new keys: jobs that run keep the old ones; copy the file anew to where you watch from");
  if (path_only) return print(*path + "\n") ? done : could_not;
  return print("file    " + *path + "\npublic  " + keys->server_public + "\nviewer  " + keys->client_public + "\n")
             ? done
             : could_not;
}

}  // namespace pclscope::commands
