// Columns of the tables about calls: call sites, MPI functions, deadlocks, origins of delays. See columns.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "analysis/values/snapshot.hpp"

namespace pclscope::store {

// Texts of any length are stretches of the table `texts`.
struct TextRow {
  std::uint8_t byte = 0;
  bool operator==(const TextRow&) const = default;
};
struct ModuleRow {
  std::uint64_t path_begin = 0;
  std::uint64_t path_count = 0;
  std::array<char, 64> build_id{};
  bool operator==(const ModuleRow&) const = default;
};
struct SiteRow {
  std::uint32_t id = 0;
  std::uint32_t module = 0;
  std::uint64_t offset = 0;
  std::uint16_t mpi_function = 0;
  std::uint32_t line = 0;
  std::uint64_t function_begin = 0;
  std::uint64_t function_count = 0;
  std::uint64_t file_begin = 0;
  std::uint64_t file_count = 0;
  bool operator==(const SiteRow&) const = default;
};
struct FunctionRow : FunctionActivity {
  std::array<char, 64> name{};
  std::uint64_t history_begin = 0;
  std::uint64_t history_count = 0;
};
struct ShareRow {
  float share = 0;
};
struct DeadlockRow : Deadlock {
  std::uint64_t members_begin = 0;
  std::uint64_t members_count = 0;
};
struct DeadlockMemberRow : DeadlockMember {
  std::uint64_t waits_begin = 0;
  std::uint64_t waits_count = 0;
};
struct WaitRow {
  std::int32_t rank = 0;
};
struct DelayRow : DelayOrigin {
  std::uint64_t victims_begin = 0;
  std::uint64_t victims_count = 0;
};
struct VictimRow {
  std::int32_t rank = 0;
  double lost_s = 0;
};

template <class Column>
void describe(Column&& column, const TextRow*) {
  column("byte", "UTF-8", &TextRow::byte);
}

template <class Column>
void describe(Column&& column, const ModuleRow*) {
  column("path_begin", "row of texts", &ModuleRow::path_begin);
  column("path_count", "bytes", &ModuleRow::path_count);
  column("build_id", "hexadecimal", &ModuleRow::build_id);
}

template <class Column>
void describe(Column&& column, const SiteRow*) {
  column("id", "id", &SiteRow::id);
  column("module", "row of modules", &SiteRow::module);
  column("offset", "address", &SiteRow::offset);
  column("mpi_function", "id", &SiteRow::mpi_function);
  column("line", "1", &SiteRow::line);
  column("function_begin", "row of texts", &SiteRow::function_begin);
  column("function_count", "bytes", &SiteRow::function_count);
  column("file_begin", "row of texts", &SiteRow::file_begin);
  column("file_count", "bytes", &SiteRow::file_count);
}

template <class Column>
void describe(Column&& column, const SiteActivity*) {
  column("site", "id of a row of sites", &SiteActivity::site);
  column("sends", "1", &SiteActivity::sends);
  column("receives", "1", &SiteActivity::receives);
  column("bytes", "bytes", &SiteActivity::bytes);
  column("delayed", "1", &SiteActivity::delayed);
  column("late_sender_s", "s", &SiteActivity::late_sender_s);
  column("waited_s", "s", &SiteActivity::waited_s);
  column("late_receiver_s", "s", &SiteActivity::late_receiver_s);
  column("excess_s", "s", &SiteActivity::excess_s);
}

template <class Column>
void describe(Column&& column, const FunctionRow*) {
  column("function", "id", &FunctionRow::function);
  column("name", "", &FunctionRow::name);
  column("calls", "1", &FunctionRow::calls);
  column("inside_s", "s", &FunctionRow::inside_s);
  column("ranks_inside", "1", &FunctionRow::ranks_inside);
  column("history_begin", "row of function_history", &FunctionRow::history_begin);
  column("history_count", "1", &FunctionRow::history_count);
}

template <class Column>
void describe(Column&& column, const ShareRow*) {
  column("share", "1", &ShareRow::share);
}

template <class Column>
void describe(Column&& column, const DeadlockRow*) {
  column("since_s", "s", &DeadlockRow::since_s);
  column("found_s", "s", &DeadlockRow::found_s);
  column("on_finished", "0 or 1", &DeadlockRow::on_finished);
  column("members_begin", "row of deadlock_members", &DeadlockRow::members_begin);
  column("members_count", "1", &DeadlockRow::members_count);
}

template <class Column>
void describe(Column&& column, const DeadlockMemberRow*) {
  column("rank", "rank", &DeadlockMemberRow::rank);
  column("function", "id", &DeadlockMemberRow::function);
  column("site", "id of a row of sites", &DeadlockMemberRow::site);
  column("comm", "id", &DeadlockMemberRow::comm);
  column("tag", "1", &DeadlockMemberRow::tag);
  column("waits_for_any", "0 or 1", &DeadlockMemberRow::waits_for_any);
  column("since_s", "s", &DeadlockMemberRow::since_s);
  column("waits_begin", "row of waits_for", &DeadlockMemberRow::waits_begin);
  column("waits_count", "1", &DeadlockMemberRow::waits_count);
}

template <class Column>
void describe(Column&& column, const WaitRow*) {
  column("rank", "rank", &WaitRow::rank);
}

template <class Column>
void describe(Column&& column, const DelayRow*) {
  column("rank", "rank", &DelayRow::rank);
  column("site", "id of a row of sites", &DelayRow::site);
  column("after_site", "id of a row of sites", &DelayRow::after_site);
  column("waits", "1", &DelayRow::waits);
  column("cost_s", "s", &DelayRow::cost_s);
  column("direct_s", "s", &DelayRow::direct_s);
  column("collective_s", "s", &DelayRow::collective_s);
  column("worst_s", "s", &DelayRow::worst_s);
  column("first_s", "s", &DelayRow::first_s);
  column("last_s", "s", &DelayRow::last_s);
  column("victims_begin", "row of delay_victims", &DelayRow::victims_begin);
  column("victims_count", "1", &DelayRow::victims_count);
}

template <class Column>
void describe(Column&& column, const VictimRow*) {
  column("rank", "rank", &VictimRow::rank);
  column("lost_s", "s", &VictimRow::lost_s);
}

}  // namespace pclscope::store
