// Prints the tables and attributes of a dump as they stand in analysis/store/FORMAT.md, or with the argument `json` the
// fields in docs/json.md, or with `python` analysis/python/pclscope/columns.py: from the lists that all writers and
// readers use (analysis/rows).
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>

#include "analysis/rows/snapshot_rows.hpp"
#include "analysis/rows/stored.hpp"
#include "analysis/rows/summary_values.hpp"
#include "analysis/store/packed_rows.hpp"
#include "analysis/values/wait_state.hpp"

using namespace pclscope;

namespace {

template <class Row>
void print(const std::string& names, const char* meaning) {
  std::printf("\n%s: %s\n\n| column | unit | meaning |\n|---|---|---|\n", names.c_str(), meaning);
  describe([](const char* name, const char* unit, auto,
              const char* told) { std::printf("| `%s` | %s | %s |\n", name, unit, told); },
           static_cast<const Row*>(nullptr));
}

// In JSON a number that is 0 or 1 is a bool, and a node has its name.
std::string json_unit(const std::string& unit) {
  if (unit == "0 or 1") return "bool";
  if (unit == "row of nodes" || unit == "id of a row of sites") return "text or null";
  if (unit.starts_with("id")) return "id";
  return unit == "1" ? "" : unit;
}

// What viewer/session/row_json.hpp makes of a value.
template <class Row, class Value>
void print_json(const char* name) {
  std::printf("<!-- fields: %s -->\n| field | unit | meaning |\n|---|---|---|\n", name);
  describe(
      []<class Base, class T>(const char* field, const char* unit, T Base::*, const char* told) {
        if constexpr (std::is_base_of_v<Base, Value>)
          std::printf("| `%s` | %s | %s |\n", field, json_unit(unit).c_str(), told);
      },
      static_cast<const Row*>(nullptr));
  std::puts("<!-- end -->");
}

void print_json() {
  std::puts("<!-- fields: values -->\n| field | unit | meaning |\n|---|---|---|");
  const Snapshot empty;
  describe_values(
      [](const ValueInfo& value, const auto&) {
        std::printf("| `%s.%s` | %s | %s |\n", value.group, value.name, json_unit(value.unit).c_str(), value.meaning);
      },
      empty);
  std::puts("<!-- end -->");
  print_json<RegionRow, Region>("region");
  print_json<Period, Period>("period");
  print_json<RegionLink, RegionLink>("link");
  print_json<NodeLink, NodeLink>("node link");
  print_json<ClockState, ClockState>("clock");
  print_json<RankRow, RankSummary>("rank");
  print_json<Criterion, Criterion>("criterion");
  print_json<SiteActivity, SiteActivity>("site");
  print_json<DelayRow, DelayOrigin>("delay");
  print_json<ConditionRow, Condition>("condition");
  print_json<MarkerRow, Marker>("marker");
}

// As numpy names it: a letter and how many bytes.
template <class T>
std::string python_type(const T&) {
  using Type = typename StoredAs<T>::Type;
  const char letter = std::is_floating_point_v<Type> ? 'f' : std::is_signed_v<Type> ? 'i' : 'u';
  return letter + std::to_string(sizeof(Type));
}
template <std::size_t n>
std::string python_type(const std::array<char, n>&) {
  return "S" + std::to_string(n);
}

template <class T>
std::string python_value(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", static_cast<double>(value));
    return std::strpbrk(text, ".en") != nullptr ? text : std::string(text) + ".0";
  } else {
    return std::to_string(static_cast<typename StoredAs<T>::Type>(value));
  }
}
template <std::size_t n>
std::string python_value(const std::array<char, n>&) {
  return "b\"\"";
}

template <class Row>
void print_python(const char* table) {
  std::printf("    \"%s\": (\n", table);
  describe(
      []<class Base, class T>(const char* name, const char* unit, T Base::*member, const char*) {
        const Row row{};
        std::printf("        (\"%s\", \"%s\", \"%s\", %s),\n", name, unit, python_type(row.*member).c_str(),
                    python_value(row.*member).c_str());
      },
      static_cast<const Row*>(nullptr));
  std::puts("    ),");
}

void print_python() {
  std::puts(
      "\"\"\"Tables and values of a dump. Printed by tests/structure/print_tables.cpp: what is changed here by hand is "
      "lost.\"\"\"\n\n"
      "# Table: of each column its name, unit, type as numpy names it, and the value that it has where a dump lacks "
      "it.\n"
      "TABLES = {");
  print_python<store::PackedMessage>("messages");
  print_python<store::PackedCollective>("collectives");
  print_python<store::PackedCall>("calls");
  print_python<ChunkTimes>("chunk_times");
  print_python<WindowRow>("windows");
  print_python<WindowRegionRow>("window_regions");
  print_python<SiteRow>("sites");
  print_python<ModuleRow>("modules");
  print_python<TextRow>("texts");
  const SnapshotRows nothing;
  each_table([]<class Row>(const TableInfo& info, const std::vector<Row>&) { print_python<Row>(info.name); }, nothing);
  std::puts("}\n\n# What a column was called in older dumps.\nFORMER_NAMES = {");
  each_table(
      []<class Row>(const TableInfo& info, const std::vector<Row>&) {
        describe(
            [&](const char* name, const char*, auto, const char*) {
              if (const char* former = former_name<Row>(name))
                std::printf("    (\"%s\", \"%s\"): \"%s\",\n", info.name, name, former);
            },
            static_cast<const Row*>(nullptr));
      },
      nothing);
  std::puts("}\n\n# Value of the summary: the group that it has in JSON, its name there, unit, default.\nVALUES = {");
  const Snapshot empty;
  describe_values(
      [](const ValueInfo& value, const auto& member) {
        std::printf("    \"%s\": (\"%s\", \"%s\", \"%s\", %s),\n", value.full_name().c_str(), value.group, value.name,
                    value.unit, python_value(member).c_str());
      },
      empty);
  std::puts("}\n\nWAIT_STATES = (");
  for (std::size_t state = 0; state < wait_states; ++state)
    std::printf("    \"%s\",\n", name_of(static_cast<WaitState>(state)));
  std::puts(")\n\n# Numbers of MPI functions.\nFUNCTIONS = {");
#define PCLSCOPE_FUNCTION(number, name) std::puts("    " #number ": \"MPI_" #name "\",");
#include "interpose/record/functions.def"
#undef PCLSCOPE_FUNCTION
  std::puts("}");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "python") == 0) return print_python(), 0;
  if (argc > 1) return print_json(), 0;
  print<store::PackedMessage>(
      "`/messages`", "matched messages, in the order of matching; attribute `not_stored`: those beyond the budget");
  print<store::PackedCollective>("`/collectives`",
                                 "one rank's part in an operation that all members have completed; attribute "
                                 "`not_stored`");
  print<store::PackedCall>("`/calls`",
                           "MPI calls, of each stored window by rank, thread and begin; attributes `not_stored` and "
                           "`shed` (of them, for lack of time)");
  print<ChunkTimes>("`/chunk_times/messages`, `/chunk_times/collectives`, `/chunk_times/calls`",
                    "chunk by chunk: the first `send_begin` (`begin`) or `recv_end` (`end`) of its rows, and the last, "
                    "as stored; the newest chunks may have none");
  print<WindowRow>("`/windows`",
                   "closed windows, oldest first; the numbers are of all messages in the window; attribute "
                   "`not_stored`");
  print<WindowRegionRow>("`/window_regions`", "regions with messages in a window");
  print<SiteRow>("`/sites`", "call sites as they became known: **the last row of an id counts**");
  print<ModuleRow>("`/modules`", "executables and libraries");
  print<TextRow>("`/texts`", "UTF-8, back to back: `_begin` and `_count` of the two tables above");
  const SnapshotRows nothing;
  each_table(
      []<class Row>(const TableInfo& info, const std::vector<Row>&) {
        print<Row>(std::string("`/summary/N/") + info.name + "`", info.meaning);
      },
      nothing);
  std::puts("\nAttributes of `/summary/N`, besides the text `method` (how the regions were found):\n");
  std::puts("| attribute | unit | meaning |\n|---|---|---|");
  const Snapshot empty;
  describe_values(
      [](const ValueInfo& value, const auto&) {
        std::printf("| `%s` | %s | %s |\n", value.full_name().c_str(), value.unit, value.meaning);
      },
      empty);
}
