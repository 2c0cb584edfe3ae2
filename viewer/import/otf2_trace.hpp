// An OTF2 archive, read by libotf2: the one place of this folder that sees it. One at a time, one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "viewer/import/converter.hpp"
#include "viewer/import/trace.hpp"

namespace pclscope::importing {

class Otf2Trace {
 public:
  // Reads the definitions. Fails with not_found, not_ours (no archive), damaged, not_permitted.
  static Result<std::unique_ptr<Otf2Trace>> open(const std::string& path);
  virtual ~Otf2Trace() = default;

  const Trace& trace() const { return trace_; }
  std::uint64_t events() const { return events_; }  // as the definitions say
  // All events, in order of time. After each `round` of them `rest` is called with how many there were; false: stop.
  // Fails with damaged.
  virtual Status read(Converter& converter, std::uint64_t round, const std::function<bool(std::uint64_t)>& rest) = 0;

 protected:
  Trace trace_;
  std::uint64_t events_ = 0;
};

}  // namespace pclscope::importing
