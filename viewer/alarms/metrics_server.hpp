// The newest state of a run over HTTP on the loopback interface, for a monitoring system that fetches it. Every user of
// the machine can connect there, so each request must show the token (Authorization: Bearer); else it learns nothing.
//
// One thread of its own; set() from any. A client that is slow, or sends nothing, is dropped after 2 s; at most 16 at a
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/values/result.hpp"

namespace pclscope::alarms {

class MetricsServer {
 public:
  // `port` 0: any that is free. Fails with io: the port is taken, or not allowed.
  static Result<std::unique_ptr<MetricsServer>> start(std::uint16_t port, std::string token);
  virtual ~MetricsServer() = default;

  virtual std::uint16_t port() const = 0;
  virtual void set(std::string text) = 0;  // what is answered from now on
};

// The user's token, in a file that only its owner can read: made when there is none. Fails with not_permitted where
// others can read it, bad_argument when it is too short, else as discovery/.
struct Token {
  std::string text, path;
};
Result<Token> metrics_token();

}  // namespace pclscope::alarms
