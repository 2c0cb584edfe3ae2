#include "viewer/inspect/compared.hpp"

#include <filesystem>
#include <utility>

#include "viewer/inspect/opened.hpp"

namespace pclscope::commands {

Result<views::ComparedRun> compared_run(const std::string& target, InspectedRun& run) {
  views::ComparedRun made;
  made.name = std::filesystem::path(target).filename().string();
  if (made.name.empty()) made.name = target;
  made.whole = run.session->complete();
  if (!run.session->live()) {  // a running job's windows: none, so its noise is known in part only
    auto windows = run.session->windows();
    if (!windows) return windows.error();
    made.windows = std::move(*windows);
  }
  made.snapshot = std::move(run.snapshot);
  return made;
}

Result<views::ComparedRun> open_compared(const std::string& file) {
  auto run = open_inspected(file, true);
  if (!run) return Error{run.error().code, "--compare: " + run.error().message};
  return compared_run(file, *run);
}

}  // namespace pclscope::commands
