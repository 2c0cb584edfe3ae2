// A topic of `pclscope inspect`: what it takes, and how it is shown. All are listed in topics.def.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/commands/command_line.hpp"
#include "viewer/inspect/run.hpp"
#include "viewer/inspect/table_format.hpp"
#include "viewer/inspect/words.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/page_options.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::commands {

// Options beyond --json and --limit, which all have; ORed.
namespace takes {
inline constexpr unsigned tables = 1u << 0;  // --csv and other formats of rows
inline constexpr unsigned rank = 1u << 1;
inline constexpr unsigned region = 1u << 2;
inline constexpr unsigned period = 1u << 3;  // --from, --to
inline constexpr unsigned sort = 1u << 4;
inline constexpr unsigned dot = 1u << 5;
inline constexpr unsigned fold = 1u << 6;
inline constexpr unsigned cut = 1u << 7;     // --cut, --cut-height
inline constexpr unsigned change = 1u << 9;  // --finding, --balance
inline constexpr unsigned gdb = 1u << 10;
inline constexpr unsigned folded = 1u << 11;
inline constexpr unsigned compare = 1u << 12;
inline constexpr unsigned phase = 1u << 13;
inline constexpr unsigned clusters = 1u << 14;  // --clusters, --metric
inline constexpr unsigned function = 1u << 15;
inline constexpr unsigned lines = 1u << 8;  // no option: it names lines of the source; those a dump lacks are looked up
}  // namespace takes

struct Topic {
  const char* name;
  unsigned takes;
  // May take what it wants out of the run. Returns the exit status.
  int (*show)(const InspectWords& words, InspectedRun& run);
};

std::span<const Topic* const> topics();
const Topic& topic_named(std::string_view name);  // one of them

// Prints one of the three forms; only that one is made. text(page) gives lines, rows() what a table_format.hpp prints,
// json() an object.
// `why`: set when the topic says whether it tells all, and why it does not; empty: it does.
template <class Text, class MakeRows, class MakeJson>
int show(const InspectWords& words, const InspectedRun& run, const std::optional<std::string>& why, Text&& text,
         MakeRows&& rows, MakeJson&& json) {
  if (why) tell_partial(run, *why);
  if (words.table != nullptr) return print_rows(*words.table, rows());
  if (words.format == Format::text) return print_lines(text(inspect_page(words))) ? done : could_not;
  session::Json object = json();
  if (why) add_partial(object, *why);
  return print_json(object);
}

int fail(const Error& error);

// As many rows as --limit says.
template <class Row>
void cut(const InspectWords& words, std::vector<Row>& rows) {
  if (words.limit && rows.size() > *words.limit) rows.resize(static_cast<std::size_t>(*words.limit));
}

// The same, and as text no more than 20 when --limit says nothing. Returns how many were left out.
template <class Row>
std::size_t cut_text(const InspectWords& words, std::vector<Row>& rows) {
  const std::uint64_t most = words.limit.value_or(words.format == Format::text ? 20 : UINT64_MAX);
  const std::size_t all = rows.size();
  if (all > most) rows.resize(static_cast<std::size_t>(most));
  return all - rows.size();
}

template <class Row, class ToJson>
session::Json array_of(const std::vector<Row>& rows, const ToJson& to_json) {
  session::Json array = session::Json::array();
  for (const Row& row : rows) array.push_back(to_json(row));
  return array;
}

}  // namespace pclscope::commands
