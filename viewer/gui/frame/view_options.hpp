// What `pclscope view` was asked for.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/gui/base/selection.hpp"
#include "viewer/layout/palette.hpp"
#include "viewer/session/network_source.hpp"

namespace pclscope::gui {

struct ViewOptions {
  std::string target;      // job, endpoint or file; empty: the newest running job
  std::string compare;     // a dump to compare it with; empty: none
  std::string via;         // a host that finds the job; empty: none
  bool wait = false;       // for the job
  std::string screenshot;  // path of a PNG: no window
  int width = 1600;
  int height = 1000;
  layout::Theme theme = layout::Theme::dark;
  float scale = 0;        // 0: what the screen says
  std::string only;       // one view alone, in its workspace: spatial, evolution, ...
  std::string workspace;  // shown first: latency, time, ...; empty: the first
  Selection selection;    // to begin with
  bool selected = false;  // something of it was given
  std::size_t history_bytes = std::size_t{64} << 20;
  session::NetworkWords network;                               // the run's, or a file's
  std::shared_ptr<const session::NetworkFacts> network_facts;  // the target is a traffic or route file; null: it is not
  std::string describe;                                        // file that tells what is shown, for scripts
};

// "region=3,rank=17,period=1.5:2.5,finding=0": into `selection`. False: not understood.
bool parse_selection(const std::string& text, Selection& selection);

// An exit status when it is over already (help, wrong usage said in one line).
std::optional<int> parse_view(const std::vector<std::string>& words, ViewOptions& options);

}  // namespace pclscope::gui
