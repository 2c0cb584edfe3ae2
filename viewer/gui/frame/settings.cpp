#include "viewer/gui/frame/settings.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace pclscope::gui {

Settings find_settings() {
  namespace fs = std::filesystem;
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if ((!config || !*config) && (!home || !*home)) return {"", true};
  const fs::path directory = (config && *config ? fs::path(config) : fs::path(home) / ".config") / "pclscope";
  std::error_code failed;
  const fs::path file = directory / "view.ini";
  if (fs::exists(file, failed)) return {file.string(), false};
  fs::create_directories(directory, failed);
  if (failed || !std::ofstream(file)) return {"", true};
  return {file.string(), true};
}

}  // namespace pclscope::gui
