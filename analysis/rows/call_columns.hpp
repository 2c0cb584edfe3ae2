// Columns of the tables about calls: call sites, MPI functions, deadlocks, origins of delays. See columns.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "analysis/values/snapshot.hpp"

namespace pclscope {

// Texts of any length are ranges of the table `texts`.
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
  std::uint32_t caller = 0;
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
  column("byte", "UTF-8", &TextRow::byte, "of a text");
}

template <class Column>
void describe(Column&& column, const ModuleRow*) {
  column("path_begin", "row of texts", &ModuleRow::path_begin, "file: the first byte");
  column("path_count", "bytes", &ModuleRow::path_count, "how many");
  column("build_id", "hexadecimal", &ModuleRow::build_id, "empty when it has none");
}

template <class Column>
void describe(Column&& column, const SiteRow*) {
  column("id", "id", &SiteRow::id, "from 1, for this run");
  column("module", "row of modules", &SiteRow::module, "executable or library");
  column("offset", "address", &SiteRow::offset, "of the return address, as linked");
  column("mpi_function", "id", &SiteRow::mpi_function, "called from here; 0 not known");
  column("line", "1", &SiteRow::line, "0 without debug information");
  column("function_begin", "row of texts", &SiteRow::function_begin, "demangled, empty when not known: the first byte");
  column("function_count", "bytes", &SiteRow::function_count, "how many");
  column("file_begin", "row of texts", &SiteRow::file_begin,
         "source file as in the debug information, empty without: the first byte");
  column("file_count", "bytes", &SiteRow::file_count, "how many");
  column("caller", "id of a row of sites", &SiteRow::caller,
         "from where the function that contains this site was called; 0 not known");
}

// With its texts: on the wire.
template <class Column>
void describe(Column&& column, const CallSite*) {
  column("id", "id", &CallSite::id, "from 1, for this run");
  column("module", "", &CallSite::module, "executable or library");
  column("offset", "address", &CallSite::offset, "of the return address, as linked");
  column("function", "", &CallSite::function, "demangled, empty when not known");
  column("file", "", &CallSite::file, "source file as in the debug information, empty without");
  column("line", "1", &CallSite::line, "0 without debug information");
  column("mpi_function", "id", &CallSite::mpi_function, "called from here; 0 not known");
  column("build_id", "hexadecimal", &CallSite::build_id, "of the module, empty when it has none");
  column("caller", "id of a row of sites", &CallSite::caller,
         "from where the function that contains this site was called; 0 not known");
}

template <class Column>
void describe(Column&& column, const SiteActivity*) {
  column("site", "id of a row of sites", &SiteActivity::site, "where");
  column("sends", "1", &SiteActivity::sends, "matched messages sent from here");
  column("receives", "1", &SiteActivity::receives, "matched messages whose receive was posted here");
  column("bytes", "bytes", &SiteActivity::bytes, "of both");
  column("delayed", "1", &SiteActivity::delayed, "of both");
  column("late_sender_s", "s", &SiteActivity::late_sender_s, "receivers were blocked because sends here began late");
  column("waited_s", "s", &SiteActivity::waited_s, "of all sites' late_sender_s: receives here were blocked");
  column("late_receiver_s", "s", &SiteActivity::late_receiver_s,
         "senders were blocked because receives here were posted late");
  column("transfer_s", "s", &SiteActivity::transfer_s, "exposed transfers to receives here");
  column("calls", "1", &SiteActivity::calls, "of MPI, of any kind, from here that returned");
  column("inside_s", "rank-seconds", &SiteActivity::inside_s, "in them");
}

template <class Column>
void describe(Column&& column, const FunctionRow*) {
  column("function", "id", &FunctionRow::function, "number in functions.def");
  column("name", "", &FunctionRow::name, "");
  column("calls", "1", &FunctionRow::calls, "that returned");
  column("inside_s", "s", &FunctionRow::inside_s, "spent inside, over all ranks");
  column("ranks_inside", "1", &FunctionRow::ranks_inside, "now (in a dump: at its end)");
  column("history_begin", "row of function_history", &FunctionRow::history_begin, "its newest windows: the first");
  column("history_count", "1", &FunctionRow::history_count, "how many");
}

template <class Column>
void describe(Column&& column, const ShareRow*) {
  column("share", "1", &ShareRow::share, "of all ranks' time spent inside in a window");
}

template <class Column>
void describe(Column&& column, const DeadlockRow*) {
  column("since_s", "s", &DeadlockRow::since_s, "when its last member entered its call");
  column("found_s", "s", &DeadlockRow::found_s, "when it was found");
  column("on_finished", "0 or 1", &DeadlockRow::on_finished, "no cycle: somebody waits for a rank that has left MPI");
  column("members_begin", "row of deadlock_members", &DeadlockRow::members_begin, "its members: the first");
  column("members_count", "1", &DeadlockRow::members_count, "how many");
}

template <class Column>
void describe(Column&& column, const DeadlockMemberRow*) {
  column("rank", "rank", &DeadlockMemberRow::rank, "in the application's world");
  column("function", "id", &DeadlockMemberRow::function, "that it is inside");
  column("site", "id of a row of sites", &DeadlockMemberRow::site, "from where; 0 not known");
  column("comm", "id", &DeadlockMemberRow::comm, "communicator");
  column("tag", "1", &DeadlockMemberRow::tag, "-1 any, or none");
  column("waits_for_any", "0 or 1", &DeadlockMemberRow::waits_for_any,
         "one of the awaited suffices, else all are needed");
  column("since_s", "s", &DeadlockMemberRow::since_s, "since when, since the time origin");
  column("called", "id", &DeadlockMemberRow::called,
         "collective that it called where others called another one, which cannot match; 0: it is not that");
  column("waits_begin", "row of waits_for", &DeadlockMemberRow::waits_begin, "who could release it: the first");
  column("waits_count", "1", &DeadlockMemberRow::waits_count, "how many; 0 not known");
}

template <class Column>
void describe(Column&& column, const WaitRow*) {
  column("rank", "rank", &WaitRow::rank, "who could release it");
}

template <class Column>
void describe(Column&& column, const DelayRow*) {
  column("rank", "rank", &DelayRow::rank, "who came late");
  column("site", "id of a row of sites", &DelayRow::site, "the call that came late; 0 not known");
  column("after_site", "id of a row of sites", &DelayRow::after_site, "the call before the computation; 0 not known");
  column("waits", "1", &DelayRow::waits, "wait states that go back to it");
  column("cost_s", "s", &DelayRow::cost_s, "other ranks waited because of it");
  column("direct_s", "s", &DelayRow::direct_s, "of that, those who waited for this rank itself");
  column("collective_s", "s", &DelayRow::collective_s, "of cost_s, in collectives");
  column("off_core_s", "s", &DelayRow::off_core_s,
         "of cost_s, because the rank was runnable but off its core (an estimate)");
  column("worst_s", "s", &DelayRow::worst_s, "cost of its worst visit");
  column("first_s", "s", &DelayRow::first_s, "begin of the first wait, since the time origin");
  column("last_s", "s", &DelayRow::last_s, "end of the last");
  column("victims_begin", "row of delay_victims", &DelayRow::victims_begin, "who lost most: the first");
  column("victims_count", "1", &DelayRow::victims_count, "how many");
}

template <class Column>
void describe(Column&& column, const VictimRow*) {
  column("rank", "rank", &VictimRow::rank, "who waited");
  column("lost_s", "s", &VictimRow::lost_s, "how long");
}

template <class Column>
void describe(Column&& column, const WaitStateSum*) {
  column("state", "id", &WaitStateSum::state,
         "1 late sender, 2 late receiver, 3 wait at barrier, 4 wait at NxN, 5 late broadcast, 6 early reduce, 7 early "
         "scan, 8 late neighbour, 9 wait at fence, 10 late post, 11 late complete, 12 lock contention, 13 wait at "
         "window, 14 wait at file, 15 wait at init, 16 wait at finalize");
  column("function", "id", &WaitStateSum::function, "MPI function");
  column("comm", "id", &WaitStateSum::comm, "communicator; of windows and files theirs; 0: several");
  column("site", "id of a row of sites", &WaitStateSum::site, "of the calls that waited; 0 not known, or several");
  column("waits", "1", &WaitStateSum::waits, "calls that waited");
  column("wait_s", "s", &WaitStateSum::wait_s, "how long, of all ranks");
  column("worst_s", "s", &WaitStateSum::worst_s, "the longest of them");
  column("awaited_rank", "rank", &WaitStateSum::awaited_rank, "for whom ranks waited longest in sum; -1 nobody");
  column("awaited_s", "s", &WaitStateSum::awaited_s, "and how long");
}

}  // namespace pclscope
