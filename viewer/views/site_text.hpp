// Call sites as people and programs read them: looked up by id, written "file.c:42".
//
// What is shown of a call is the user's frame: of its call path the innermost that is not MPI's, nor of a function that
// only wraps it (docs/methods.md, "Call paths").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::views {

class Sites {
 public:
  Sites() = default;
  explicit Sites(std::vector<CallSite> sites);
  // The user's frame, with the MPI function that was called in the end. Null when unknown.
  const CallSite* find(std::uint64_t id) const;
  // The place itself, where MPI was called or a function that did so. Null when unknown.
  const CallSite* place(std::uint64_t id) const;
  // The frame that called the user's one; null when unknown, or where it is no user's any more.
  const CallSite* caller(std::uint64_t id) const;
  // From the call outwards; without the frames that begin a program.
  std::vector<const CallSite*> path(std::uint64_t id) const;
  // For programs: the whole path; empty when unknown.
  std::string location(std::uint64_t id) const;
  // For people: without directories, safe for a terminal; "?" when unknown.
  std::string brief(std::uint64_t id) const;
  // The same, and from where: "halo.c:42, called from main.c:17".
  std::string with_caller(std::uint64_t id) const;

  // Functions and modules that are never the user's, besides those that are found: by the command's --skip. For all
  // Sites made later; before other threads make any.
  static void skip(std::vector<std::string> names);

 private:
  std::size_t index_of(std::uint64_t id) const;     // sites_.size() when unknown
  std::size_t outside_of(std::size_t inner) const;  // index of the caller; sites_.size() where there is none
  void choose_frames();
  void leave_layers(const std::vector<std::size_t>& calls, std::vector<std::size_t>& frame) const;

  std::vector<CallSite> sites_;  // by id
  std::vector<CallSite> shown_;  // by index: the user's frame
};

// "/src/halo.c:42", or "/usr/lib/libfoo.so+0x1234" without debug information.
std::string site_location(const CallSite& site);
// "halo.c:42", "libfoo.so", "libfoo.so+0x1234": to be read beside the function's name, if it has one.
std::string site_place(const CallSite& site);
// "halo.c:42", "libfoo.so(Grid::exchange)", "libfoo.so+0x1234"; C++ names without arguments.
std::string site_brief(const CallSite& site);

}  // namespace pclscope::views
