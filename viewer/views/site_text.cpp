#include "viewer/views/site_text.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "viewer/text/function_name.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/site_json.hpp"

namespace pclscope::views {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Functions are taken for wrappers when each is called from so many places, and so many of the calls of MPI go through
// one of them; where fewer do, a function that so many functions of its module call, and that calls few others.
constexpr std::size_t least_callers = 3, most_called = 3;
constexpr double most_of_them = 0.9;

std::vector<std::string>& skipped() {
  static std::vector<std::string> names;
  return names;
}

std::string function_of(const CallSite& site) { return text::same_function(site.function); }

bool begins_a_program(const CallSite& site) {
  const std::string module = file_name(site.module);
  return module.starts_with("libc.so") || module.starts_with("libpthread") || module.starts_with("ld-linux") ||
         site.function == "_start";
}

// MPI's own libraries, above all those of its Fortran and C++ bindings; and what --skip names.
bool never_a_users(const CallSite& site) {
  const std::string module = file_name(site.module);
  for (const char* mpi : {"libmpi.", "libmpi_", "libmpich", "libmpifort", "libmpicxx", "libpmpi", "libopen-"})
    if (module.starts_with(mpi)) return true;
  const std::string function = function_of(site);
  return std::any_of(skipped().begin(), skipped().end(), [&](const std::string& name) {
    return name == function || name == text::short_function(site.function) || name == module || name == site.module ||
           name == site.function;
  });
}

}  // namespace

void Sites::skip(std::vector<std::string> names) { skipped() = std::move(names); }

Sites::Sites(std::vector<CallSite> sites) : sites_(std::move(sites)) {
  std::sort(sites_.begin(), sites_.end(), [](const CallSite& a, const CallSite& b) { return a.id < b.id; });
  choose_frames();
}

std::size_t Sites::index_of(std::uint64_t id) const {
  const auto at = std::lower_bound(sites_.begin(), sites_.end(), id,
                                   [](const CallSite& site, std::uint64_t wanted) { return site.id < wanted; });
  return at != sites_.end() && at->id == id ? static_cast<std::size_t>(at - sites_.begin()) : sites_.size();
}

const CallSite* Sites::place(std::uint64_t id) const {
  const std::size_t index = index_of(id);
  return index < sites_.size() ? &sites_[index] : nullptr;
}

const CallSite* Sites::find(std::uint64_t id) const {
  const std::size_t index = index_of(id);
  return index < sites_.size() ? &shown_[index] : nullptr;
}

const CallSite* Sites::caller(std::uint64_t id) const {
  const CallSite* site = find(id);
  if (site == nullptr || site->caller == 0) return nullptr;
  const CallSite* from = place(site->caller);
  return from != nullptr && !begins_a_program(*from) ? from : nullptr;
}

std::vector<const CallSite*> Sites::path(std::uint64_t id) const {
  std::vector<const CallSite*> path;
  for (const CallSite* site = place(id); site != nullptr; site = place(site->caller)) {
    if (!path.empty() && begins_a_program(*site)) break;
    path.push_back(site);
    if (site->caller >= site->id) break;  // a damaged file
  }
  return path;
}

std::size_t Sites::outside_of(std::size_t inner) const {
  const std::size_t outer = index_of(sites_[inner].caller);
  return outer < inner && !begins_a_program(sites_[outer]) ? outer : sites_.size();
}

// Programs that call MPI at other places, too, have layers of their own for what they do often.
void Sites::leave_layers(const std::vector<std::size_t>& calls, std::vector<std::size_t>& frame) const {
  // Only while the functions have names, and are of one library: interpreters call everything from everywhere.
  const auto outer_of = [this](std::size_t inner) {
    const std::size_t outer = outside_of(inner);
    const bool goes_on = outer < sites_.size() && sites_[outer].module == sites_[inner].module &&
                         !sites_[inner].function.empty() && !sites_[outer].function.empty();
    return goes_on ? outer : sites_.size();
  };
  std::map<std::string, std::set<std::string>> callers, called;  // functions, by function
  for (const std::size_t call : calls)
    for (std::size_t inner = frame[call], outer; (outer = outer_of(inner)) < sites_.size(); inner = outer) {
      const std::string in = function_of(sites_[inner]), out = function_of(sites_[outer]);
      if (in == out) continue;  // recursive
      callers[in].insert(out);
      called[out].insert(in);
    }
  const auto is_layer = [&](const std::string& function) {
    const auto by = callers.find(function), of = called.find(function);
    return by != callers.end() && by->second.size() >= least_callers &&
           (of == called.end() || of->second.size() <= most_called);
  };
  for (const std::size_t call : calls) {
    std::size_t inner = frame[call], outer = outer_of(inner);
    while (outer < sites_.size() && !is_layer(function_of(sites_[inner]))) outer = outer_of(inner = outer);
    const std::string layer = function_of(sites_[inner]);
    while (outer < sites_.size() && function_of(sites_[outer]) == layer) outer = outer_of(outer);
    if (outer < sites_.size()) frame[call] = outer;
  }
}

void Sites::choose_frames() {
  std::vector<std::size_t> calls, frame(sites_.size());
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    frame[i] = i;
    if (sites_[i].mpi_function != 0 && sites_[i].caller != 0) calls.push_back(i);
  }
  const auto outer_of = [this](std::size_t inner) { return outside_of(inner); };
  const auto leave_others = [&] {
    for (const std::size_t call : calls)
      for (std::size_t outer; never_a_users(sites_[frame[call]]) && (outer = outer_of(frame[call])) < sites_.size();)
        frame[call] = outer;
  };
  leave_others();

  std::map<std::string, std::set<std::pair<std::uint64_t, std::string>>> callers;  // places, by function
  for (const std::size_t call : calls)
    for (std::size_t inner = frame[call], outer; (outer = outer_of(inner)) < sites_.size(); inner = outer)
      callers[function_of(sites_[inner])].emplace(sites_[outer].offset, sites_[outer].module);
  callers.erase("");
  std::erase_if(callers, [](const auto& of) { return of.second.size() < least_callers; });
  std::map<std::size_t, std::size_t> outside;  // of the innermost wrapper, by call
  for (const std::size_t call : calls) {
    std::size_t inner = frame[call], outer = outer_of(inner);
    while (outer < sites_.size() && !callers.contains(function_of(sites_[inner]))) outer = outer_of(inner = outer);
    const std::string wrapper = function_of(sites_[inner]);
    while (outer < sites_.size() && function_of(sites_[outer]) == wrapper) outer = outer_of(outer);  // recursive
    if (outer < sites_.size()) outside[call] = outer;
  }
  if (static_cast<double>(outside.size()) >= most_of_them * static_cast<double>(calls.size()))
    for (const auto& [call, outer] : outside) frame[call] = outer;
  else leave_layers(calls, frame);
  leave_others();
  shown_.reserve(sites_.size());
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    shown_.push_back(sites_[frame[i]]);
    shown_.back().mpi_function = sites_[i].mpi_function;
  }
}

std::string Sites::location(std::uint64_t id) const {
  const CallSite* site = find(id);
  return site != nullptr ? site_location(*site) : "";
}

std::string Sites::brief(std::uint64_t id) const {
  const CallSite* site = find(id);
  return site != nullptr ? site_brief(*site) : "?";
}

std::string Sites::with_caller(std::uint64_t id) const {
  const CallSite* from = caller(id);
  const std::string at = brief(id), by = from != nullptr ? site_brief(*from) : "";
  return by.empty() || by == at ? at : at + ", called from " + by;
}

std::string site_location(const CallSite& site) {
  if (site.line > 0) return site.file + ":" + std::to_string(site.line);
  return site.module + "+0x" + text::format_hexadecimal(site.offset);
}

std::string site_place(const CallSite& site) {
  return site.line > 0 || site.function.empty() ? site_brief(site) : text::printable(file_name(site.module));
}

std::string site_brief(const CallSite& site) {
  if (site.line > 0) return text::printable(file_name(site.file)) + ":" + std::to_string(site.line);
  const std::string module = text::printable(file_name(site.module));
  return site.function.empty() ? module + "+0x" + text::format_hexadecimal(site.offset)
                               : module + "(" + text::printable(text::short_function(site.function)) + ")";
}

session::Json site_json(std::uint32_t site, const Sites& sites) {
  const std::string location = sites.location(site);
  return location.empty() ? session::Json(nullptr) : session::Json(location);
}

}  // namespace pclscope::views
