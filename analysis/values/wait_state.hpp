// The wait states by name (docs/methods.md, "Wait states"; Scalasca's names), and the groups that causes and sums go
// by.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/values/collective_call.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope {

enum class WaitGroup : std::uint8_t { point_to_point, collective, one_sided, file, start_up, finish };

enum class WaitState : std::uint8_t {
  none = 0,
  late_sender = 1,
  late_receiver = 2,
  wait_at_barrier = 3,
  wait_at_nxn = 4,
  late_broadcast = 5,
  early_reduce = 6,
  early_scan = 7,
  late_neighbour = 8,
  wait_at_fence = 9,
  late_post = 10,
  late_complete = 11,
  lock_contention = 12,
  wait_at_window = 13,  // made or freed
  wait_at_file = 14,    // collective file operations
  wait_at_init = 15,
  wait_at_finalize = 16,
};
inline constexpr std::size_t wait_states = 17;

// --- group_of, state_of: thread-safe; unknown functions count as collectives ---
namespace wait_detail {

inline WaitGroup group_of_name(std::string_view name) {
  if (name.starts_with("MPI_Win_")) return WaitGroup::one_sided;
  if (name.starts_with("MPI_File_")) return WaitGroup::file;
  if (name == "MPI_Init" || name == "MPI_Init_thread" || name == "MPI_Session_init") return WaitGroup::start_up;
  if (name == "MPI_Finalize" || name == "MPI_Session_finalize") return WaitGroup::finish;
  return WaitGroup::collective;
}

inline bool is_barrier(std::string_view name) { return name.find("arrier") != std::string_view::npos; }

inline WaitState state_of_name(std::string_view name) {
  switch (group_of_name(name)) {
    case WaitGroup::start_up: return WaitState::wait_at_init;
    case WaitGroup::finish: return WaitState::wait_at_finalize;
    case WaitGroup::file: return WaitState::wait_at_file;
    case WaitGroup::one_sided: return name == "MPI_Win_fence" ? WaitState::wait_at_fence : WaitState::wait_at_window;
    default: return is_barrier(name) ? WaitState::wait_at_barrier : WaitState::wait_at_nxn;
  }
}

template <class T, class Of>
T of_function(std::uint16_t function, Of of) {
  static const auto table = [&] {
    std::array<T, 1024> all{};
    for (std::size_t f = 0; f < all.size(); ++f) all[f] = of(record::function_name(static_cast<std::uint16_t>(f)));
    return all;
  }();
  return table[function < table.size() ? function : 0];
}

}  // namespace wait_detail

inline WaitGroup group_of(const CollectiveCall& call) {
  if (call.shape == CollectiveShape::send || call.shape == CollectiveShape::probe) return WaitGroup::point_to_point;
  return wait_detail::of_function<WaitGroup>(call.function, wait_detail::group_of_name);
}

inline WaitState state_of(const CollectiveCall& call) {
  switch (call.shape) {
    case CollectiveShape::all_to_all:
      return wait_detail::of_function<WaitState>(call.function, wait_detail::state_of_name);
    case CollectiveShape::from_root: return WaitState::late_broadcast;
    case CollectiveShape::to_root: return WaitState::early_reduce;
    case CollectiveShape::prefix: return WaitState::early_scan;
    case CollectiveShape::neighbours: return WaitState::late_neighbour;
    case CollectiveShape::post: return WaitState::late_post;
    case CollectiveShape::complete: return WaitState::late_complete;
    case CollectiveShape::lock: return WaitState::lock_contention;
    case CollectiveShape::send: return WaitState::late_receiver;
    case CollectiveShape::probe: return WaitState::late_sender;
    case CollectiveShape::unknown: break;
  }
  return WaitState::none;
}

// "late sender"; "" for none
inline const char* name_of(WaitState state) {
  static constexpr std::array<const char*, wait_states> names = {"",
                                                                 "late sender",
                                                                 "late receiver",
                                                                 "wait at barrier",
                                                                 "wait at NxN",
                                                                 "late broadcast",
                                                                 "early reduce",
                                                                 "early scan",
                                                                 "late neighbour",
                                                                 "wait at fence",
                                                                 "late post",
                                                                 "late complete",
                                                                 "lock contention",
                                                                 "wait at window",
                                                                 "wait at file",
                                                                 "wait at init",
                                                                 "wait at finalize"};
  return names[static_cast<std::size_t>(state) < names.size() ? static_cast<std::size_t>(state) : 0];
}

// "one-sided"
inline const char* name_of(WaitGroup group) {
  static constexpr std::array<const char*, 6> names = {"point-to-point", "collective", "one-sided",
                                                       "file",           "start-up",   "finalize"};
  return names[static_cast<std::size_t>(group) < names.size() ? static_cast<std::size_t>(group) : 0];
}

}  // namespace pclscope
