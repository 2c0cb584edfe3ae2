// MPI-IO: every call that does something is an interval.
#pragma once

#include <tuple>

#include "interpose/wrap/call_scope.hpp"
#include "interpose/wrap/windows_and_files.hpp"

namespace pclscope {

template <Function F, class Call, class Bytes>
int record_file(Site site, const FileOrigin& origin, std::uint32_t flags, Call real_call, Bytes bytes) {
  Recorder* r = recorder();
  if (r == nullptr) {
    if (Recorder* muted = muted_recorder()) muted->missed(1);
    RecordingPaused paused;  // Open MPI's file code calls some MPI_*
    return real_call();
  }
  CallScope call(*r, F, site, origin.comm, record::any_source, record::any_tag);
  int result;
  {
    RecordingPaused paused;
    result = real_call();
  }
  call.returned();
  if (result == MPI_SUCCESS)
    call.record(EventKind::file, origin.comm, bytes(*r), 0, record::any_source, record::any_tag, flags | origin.flags);
  return result;
}

inline constexpr auto no_bytes = [](Recorder&) { return std::uint64_t{0}; };

template <Function F, class Real, class Name>
int wrap_file_open(Site site, Real real_open, MPI_Comm comm, Name name, int mode, MPI_Info info, MPI_File* file) {
  comm = app_comm(comm);
  if (!process.known) return real_open(comm, name, mode, info, file);
  const Communicator& c = find_communicator(comm);
  const FileOrigin origin = {c.id, c.flags};
  const int result = record_file<F>(
      site, origin, 0, [&] { return real_open(comm, name, mode, info, file); }, no_bytes);
  if (result == MPI_SUCCESS) remember_file(*file, origin);
  return result;
}

template <Function F, class Real, class Name>
int wrap_file_delete(Site site, Real real_delete, Name name, MPI_Info info) {
  return record_file<F>(
      site, {0, 0}, 0, [&] { return real_delete(name, info); }, no_bytes);
}

template <Function F, class Real>
int wrap_file_close(Site site, Real real_close, MPI_File* file) {
  const MPI_File closed = *file;
  const int result = record_file<F>(
      site, origin_of(closed), 0, [&] { return real_close(file); }, no_bytes);
  if (result == MPI_SUCCESS) forget_file(closed);
  return result;
}

// Calls of a file without data of their own.
template <Function F, class Real, class... Arguments>
int wrap_file_call(Site site, Real real_call, MPI_File file, Arguments... arguments) {
  return record_file<F>(
      site, origin_of(file), 0, [&] { return real_call(file, arguments...); }, no_bytes);
}

// All that read or write: [offset,] buffer, count, type, and then a status, a request or nothing.
template <Function F, class Real, class... Arguments>
int wrap_file_data(Site site, Real real_call, MPI_File file, Arguments... arguments) {
  using All = std::tuple<Arguments...>;
  constexpr std::size_t count = std::is_pointer_v<std::tuple_element_t<0, All>> ? 1 : 2;
  constexpr std::size_t last = sizeof...(Arguments) - 1;
  constexpr bool posts = std::is_same_v<std::tuple_element_t<last, All>, MPI_Request*>;
  const auto all = std::tie(arguments...);
  return record_file<F>(
      site, origin_of(file), posts ? flag::nonblocking : 0, [&] { return real_call(file, arguments...); },
      [&](Recorder& r) { return r.bytes(std::get<count>(all), std::get<count + 1>(all)); });
}

}  // namespace pclscope
