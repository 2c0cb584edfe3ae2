// MPI-IO: every call that does something is an interval.
#pragma once

#include <string_view>
#include <tuple>

#include "interpose/wrap/call_scope.hpp"
#include "interpose/wrap/windows_and_files.hpp"

namespace pclscope {

// Calls that all who opened the file make together, and that are over when they return.
constexpr bool is_collective_on_file(Function f) {
  const std::string_view name = record::function_name(static_cast<std::uint16_t>(f));
  if (name.starts_with("MPI_File_iread") || name.starts_with("MPI_File_iwrite")) return false;
  for (const std::string_view part : {"_all", "_ordered", "_open", "_close", "_set_", "_preallocate", "_sync"})
    if (name.find(part) != std::string_view::npos) return true;
  return name == "MPI_File_seek_shared";
}

// `number`: of a collective call on this file (of MPI_File_open: on the communicator), from 1; 0 of others.
template <Function F, class Call, class Bytes>
int record_file(Caller caller, const FileOrigin& origin, std::uint64_t number, std::uint32_t flags, Call real_call,
                Bytes bytes) {
  Recorder* r = recorder();
  if (r == nullptr) {
    if (Recorder* muted = muted_recorder()) muted->missed(1);
    RecordingPaused paused;  // Open MPI's file code calls some MPI_*
    return real_call();
  }
  CallScope call(*r, F, caller, origin.comm, record::any_source, record::any_tag);
  int result;
  {
    RecordingPaused paused;
    result = real_call();
  }
  call.returned();
  if (result == MPI_SUCCESS)
    call.record(EventKind::file, origin.comm, bytes(*r), number, record::any_source,
                F == Function::File_open ? record::any_tag : origin.index, flags | origin.flags);
  return result;
}

template <Function F>
std::uint64_t number_on_file(MPI_File file, const FileOrigin& origin) {
  if constexpr (!is_collective_on_file(F)) return 0;
  count_collective(file);
  return origin.number + 1;
}

inline constexpr auto no_bytes = [](Recorder&) { return std::uint64_t{0}; };

template <Function F, class Real, class Name>
int wrap_file_open(Caller caller, Real real_open, MPI_Comm comm, Name name, int mode, MPI_Info info, MPI_File* file) {
  comm = app_comm(comm);
  if (!process.known) return real_open(comm, name, mode, info, file);
  Communicator& c = find_communicator(comm);
  const FileOrigin origin = {c.id, c.flags, add_to<std::int32_t>(c.files, 1), 0};
  const int result = record_file<F>(
      caller, origin, static_cast<std::uint64_t>(origin.index) + 1, 0,
      [&] { return real_open(comm, name, mode, info, file); }, no_bytes);
  if (result == MPI_SUCCESS) remember_file(*file, origin);
  return result;
}

template <Function F, class Real, class Name>
int wrap_file_delete(Caller caller, Real real_delete, Name name, MPI_Info info) {
  return record_file<F>(
      caller, {0, 0, -1, 0}, 0, 0, [&] { return real_delete(name, info); }, no_bytes);
}

template <Function F, class Real>
int wrap_file_close(Caller caller, Real real_close, MPI_File* file) {
  const MPI_File closed = *file;
  const FileOrigin origin = origin_of(closed);
  const int result = record_file<F>(
      caller, origin, number_on_file<F>(closed, origin), 0, [&] { return real_close(file); }, no_bytes);
  if (result == MPI_SUCCESS) forget_file(closed);
  return result;
}

// Calls of a file without data of their own.
template <Function F, class Real, class... Arguments>
int wrap_file_call(Caller caller, Real real_call, MPI_File file, Arguments... arguments) {
  const FileOrigin origin = origin_of(file);
  return record_file<F>(
      caller, origin, number_on_file<F>(file, origin), 0, [&] { return real_call(file, arguments...); }, no_bytes);
}

// All that read or write: [offset,] buffer, count, type, and then a status, a request or nothing.
template <Function F, class Real, class... Arguments>
int wrap_file_data(Caller caller, Real real_call, MPI_File file, Arguments... arguments) {
  using All = std::tuple<Arguments...>;
  constexpr std::size_t count = std::is_pointer_v<std::tuple_element_t<0, All>> ? 1 : 2;
  constexpr std::size_t last = sizeof...(Arguments) - 1;
  constexpr bool posts = std::is_same_v<std::tuple_element_t<last, All>, MPI_Request*>;
  const auto all = std::tie(arguments...);
  const FileOrigin origin = origin_of(file);
  return record_file<F>(
      caller, origin, number_on_file<F>(file, origin), posts ? flag::nonblocking : 0,
      [&] { return real_call(file, arguments...); },
      [&](Recorder& r) { return r.bytes(std::get<count>(all), std::get<count + 1>(all)); });
}

}  // namespace pclscope
