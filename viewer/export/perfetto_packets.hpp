// Writes the packets of a Perfetto trace: the one place of this folder that sees protobuf. Names and lines of the
// source are told once, and numbers afterwards. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::exporting {

class PerfettoPackets {
 public:
  // Times are ns since the origin, whose real time is `origin_realtime_ns`.
  PerfettoPackets(const std::string& path, std::int64_t origin_realtime_ns);
  ~PerfettoPackets();

  // Tracks: `parent` 0 has none; `place` among its siblings.
  void track(std::uint64_t id, std::uint64_t parent, const std::string& name, std::int32_t place);
  void counter_track(std::uint64_t id, std::uint64_t parent, const std::string& name, const char* unit,
                     std::int32_t place);

  // An event: event(), what belongs to it, put(). A slice lasts until end().
  enum class Kind { slice, instant };
  void event(Kind kind, std::uint64_t track, std::int64_t ns, std::string_view category, std::string_view name);
  void flow_from_here(std::uint64_t id);
  void flow_to_here(std::uint64_t id);
  void line_of_source(const CallSite& site);
  void note(std::string_view name, std::uint64_t value);
  void note(std::string_view name, std::int64_t value);
  void note(std::string_view name, double value);
  void note(std::string_view name, const std::string& value);
  void put();
  void end(std::uint64_t track, std::int64_t ns);  // of the slice that began there last
  void count(std::uint64_t track, std::int64_t ns, double value);

  Status status() const;
  Status close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pclscope::exporting
