// Typed errors of the analysis: a code, and one line that says what happened and what to do.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace pclscope {

enum class ErrorCode {
  not_found,  // file, job or rank does not exist
  not_permitted,
  not_ours,       // the file or message is not pclscope's
  wrong_version,  // ours, of a version this program cannot read
  damaged,        // ours, but cut off or inconsistent
  no_space,       // disk or /dev/shm full
  in_use,         // endpoint or file taken
  unreachable,    // nobody answers
  bad_argument,
  io,  // anything else the system refused
};

struct Error {
  ErrorCode code = ErrorCode::io;
  std::string message;  // one line, no trailing newline
};

// Either a T or an Error. `if (!r) report(r.error()); else use(*r);`
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : value_(std::move(error)) {}
  explicit operator bool() const { return value_.index() == 0; }
  T& operator*() { return std::get<0>(value_); }
  const T& operator*() const { return std::get<0>(value_); }
  T* operator->() { return &std::get<0>(value_); }
  const T* operator->() const { return &std::get<0>(value_); }
  const Error& error() const { return std::get<1>(value_); }

 private:
  std::variant<T, Error> value_;
};

// Success, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : failed_(true), error_(std::move(error)) {}
  explicit operator bool() const { return !failed_; }
  const Error& error() const { return error_; }

 private:
  bool failed_ = false;
  Error error_;
};

}  // namespace pclscope
