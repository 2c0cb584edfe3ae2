// One-sided communication: windows, operations, synchronisations. Templates take the arguments of the C function as
// they are; windows made on MPI_COMM_WORLD are made on the application's world, so that targets are its ranks.
#pragma once

#include <tuple>

#include "interpose/wrap/call_scope.hpp"
#include "interpose/wrap/windows_and_files.hpp"

namespace pclscope {

template <Function F, class Call>
int make_window(Caller caller, MPI_Comm comm, MPI_Win* window, Call real_call) {
  comm = app_comm(comm);
  if (!process.known) return real_call(comm);
  Communicator& c = find_communicator(comm);
  Recorder* r = recorder();
  if (r == nullptr) {  // known all the same: recording may come back
    const int result = real_call(comm);
    if (result == MPI_SUCCESS) remember_window(*window, c);
    return result;
  }
  CallScope call(*r, F, caller, c.id, record::any_source, record::any_tag);
  const int result = real_call(comm);
  call.returned();
  if (result != MPI_SUCCESS) return result;
  const std::int32_t index = remember_window(*window, c);
  call.record(EventKind::rma_sync, c.id, 0, static_cast<std::uint64_t>(index) + 1, record::any_source, record::any_tag,
              c.flags);
  return result;
}

template <Function F, class Real, class Size, class Unit>
int wrap_win_create(Caller caller, Real real_create, void* base, Size size, Unit unit, MPI_Info info, MPI_Comm comm,
                    MPI_Win* window) {
  return make_window<F>(caller, comm, window,
                        [&](MPI_Comm c) { return real_create(base, size, unit, info, c, window); });
}

// MPI_Win_allocate and MPI_Win_allocate_shared.
template <Function F, class Real, class Size, class Unit>
int wrap_win_allocate(Caller caller, Real real_allocate, Size size, Unit unit, MPI_Info info, MPI_Comm comm, void* base,
                      MPI_Win* window) {
  return make_window<F>(caller, comm, window,
                        [&](MPI_Comm c) { return real_allocate(size, unit, info, c, base, window); });
}

template <Function F, class Real>
int wrap_win_create_dynamic(Caller caller, Real real_create, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  return make_window<F>(caller, comm, window, [&](MPI_Comm c) { return real_create(info, c, window); });
}

template <Function F, class Real>
int wrap_win_free(Caller caller, Real real_free, MPI_Win* window) {
  if (!process.known) return real_free(window);
  const MPI_Win freed = *window;
  Recorder* r = recorder();
  if (r == nullptr) {
    const int result = real_free(window);
    if (result == MPI_SUCCESS) forget_window(freed);
    return result;
  }
  const WindowOrigin origin = count_sync(freed, SyncKind::collective);
  const Communicator& c = *origin.comm;
  const std::uint64_t id = c.id;
  const std::uint32_t flags = c.flags;
  CallScope call(*r, F, caller, id, record::any_source, origin.index);
  const int result = real_free(window);
  call.returned();
  if (result != MPI_SUCCESS) return result;
  forget_window(freed);
  call.record(EventKind::rma_sync, id, 0, origin.number, record::any_source, origin.index, flags);
  return result;
}

// A call that leaves nothing but its own event, and not even that now.
inline void miss_event() {
  if (Recorder* muted = muted_recorder()) muted->missed(1);
}

// Where an operation's arguments tell its bytes and its target. count -1: one element.
struct RmaPlaces {
  int count;
  int type;
  int target;
};

// The window is the last argument, but for the request of the R-forms. Such requests are not tracked: to complete one
// leaves nothing but the event of the Wait or Test.
template <Function F, RmaPlaces At, class Real, class... Arguments>
int record_rma(Caller caller, Real real_call, Arguments... arguments) {
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] {
    miss_event();
    return real_call(arguments...);
  }
  const auto all = std::tie(arguments...);
  constexpr std::size_t last = sizeof...(Arguments) - 1;
  constexpr bool posts = std::is_same_v<std::tuple_element_t<last, std::tuple<Arguments...>>, MPI_Request*>;
  const Communicator& c = window_communicator(std::get < posts ? last - 1 : last > (all));
  const std::int32_t target = c.peer(std::get<At.target>(all));
  CallScope call(*r, F, caller, c.id, target, record::any_tag);
  const int result = real_call(arguments...);
  call.returned();
  if (result != MPI_SUCCESS) return result;
  std::uint64_t bytes = 0;
  if constexpr (At.count >= 0) {
    bytes = r->bytes(std::get<At.count>(all), std::get<At.type>(all));
  } else {
    bytes = r->size_of(std::get<At.type>(all));
  }
  call.record(EventKind::rma, c.id, bytes, 0, target, record::any_tag, c.flags | (posts ? flag::nonblocking : 0));
  if constexpr (posts) track_nothing(call, *std::get<last>(all));
  return result;
}

// Put, Get, Accumulate and their R-forms.
template <Function F, class Real, class... Arguments>
int wrap_rma(Caller caller, Real real_call, Arguments... arguments) {
  return record_rma<F, RmaPlaces{1, 2, 3}>(caller, real_call, arguments...);
}
// Get_accumulate: with MPI_NO_OP there is no origin, so the result tells the size.
template <Function F, class Real, class... Arguments>
int wrap_rma_result(Caller caller, Real real_call, Arguments... arguments) {
  return record_rma<F, RmaPlaces{4, 5, 6}>(caller, real_call, arguments...);
}
template <Function F, class Real, class... Arguments>
int wrap_rma_single(Caller caller, Real real_call, Arguments... arguments) {
  return record_rma<F, RmaPlaces{-1, 2, 3}>(caller, real_call, arguments...);
}
template <Function F, class Real, class... Arguments>
int wrap_rma_compare(Caller caller, Real real_call, Arguments... arguments) {
  return record_rma<F, RmaPlaces{-1, 3, 4}>(caller, real_call, arguments...);
}

constexpr SyncKind sync_kind(Function f) {
  switch (f) {
    case Function::Win_fence: return SyncKind::collective;
    case Function::Win_start: return SyncKind::start;
    case Function::Win_post: return SyncKind::post;
    case Function::Win_complete: return SyncKind::complete;
    case Function::Win_wait:
    case Function::Win_test: return SyncKind::wait;
    default: return SyncKind::none;
  }
}

template <Function F, class Call, class Done>
int synchronise(Caller caller, MPI_Win window, int target, std::uint64_t exclusive, Call real_call, Done done) {
  constexpr SyncKind kind = sync_kind(F);
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] {
    miss_event();
    const int result = real_call();
    if (kind != SyncKind::none && result == MPI_SUCCESS) count_sync(window, kind);
    return result;
  }
  const WindowOrigin which = count_sync(window, SyncKind::none);
  const Communicator& c = *which.comm;
  const std::int32_t peer = c.peer(target);
  if constexpr (F == Function::Win_lock) r->await_one(record::awaited_member | exclusive, 0);
  CallScope call(*r, F, caller, c.id, peer, which.index);
  const int result = real_call();
  call.returned();
  if (result != MPI_SUCCESS) return result;
  if (!done()) {
    call.found_nothing();
    return result;
  }
  const WindowOrigin origin = count_sync(window, kind);
  if constexpr (F == Function::Win_test) call.found_something();
  call.record(EventKind::rma_sync, c.id, exclusive, origin.number, peer, origin.index, c.flags);
  return result;
}

inline constexpr auto always_done = [] { return true; };
inline constexpr int all_targets = MPI_ANY_SOURCE;

// Those that end in the window and concern all its ranks.
template <Function F, class Real, class... Arguments>
int wrap_rma_sync(Caller caller, Real real_sync, Arguments... arguments) {
  const MPI_Win window = std::get<sizeof...(Arguments) - 1>(std::tie(arguments...));
  return synchronise<F>(
      caller, window, all_targets, 0, [&] { return real_sync(arguments...); }, always_done);
}

// The world ranks of a group whose members are in the window's; none when they are not to be known.
class GroupRanks {
 public:
  GroupRanks(MPI_Group group, MPI_Win window, const Communicator& c);
  ~GroupRanks();
  GroupRanks(const GroupRanks&) = delete;
  GroupRanks& operator=(const GroupRanks&) = delete;

  void await(Recorder& r) const;  // tells the segment header whom the call may wait for
  // An event for each member of the group, all of the same number.
  void record(CallScope& call, const WindowOrigin& origin) const;

 private:
  int size_ = 0;
  int* ranks_ = nullptr;
};

// MPI_Win_start and MPI_Win_post.
template <Function F, class Real>
int wrap_rma_group(Caller caller, Real real_sync, MPI_Group group, int assertion, MPI_Win window) {
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] {
    miss_event();
    const int result = real_sync(group, assertion, window);
    if (result == MPI_SUCCESS) count_sync(window, sync_kind(F));
    return result;
  }
  const WindowOrigin which = count_sync(window, SyncKind::none);
  const GroupRanks ranks(group, window, *which.comm);
  ranks.await(*r);
  CallScope call(*r, F, caller, which.comm->id, record::any_source, which.index);
  const int result = real_sync(group, assertion, window);
  call.returned();
  if (result == MPI_SUCCESS) ranks.record(call, count_sync(window, sync_kind(F)));
  return result;
}

template <Function F, class Real>
int wrap_rma_lock(Caller caller, Real real_lock, int type, int target, int assertion, MPI_Win window) {
  return synchronise<F>(
      caller, window, target, type == MPI_LOCK_EXCLUSIVE, [&] { return real_lock(type, target, assertion, window); },
      always_done);
}

// MPI_Win_unlock and the flushes of one target.
template <Function F, class Real>
int wrap_rma_target(Caller caller, Real real_sync, int target, MPI_Win window) {
  return synchronise<F>(
      caller, window, target, 0, [&] { return real_sync(target, window); }, always_done);
}

template <Function F, class Real>
int wrap_rma_test(Caller caller, Real real_test, MPI_Win window, int* done) {
  return synchronise<F>(
      caller, window, all_targets, 0, [&] { return real_test(window, done); }, [&] { return *done != 0; });
}

}  // namespace pclscope
