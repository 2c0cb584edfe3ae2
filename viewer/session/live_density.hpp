// The density of calls of a running job in full resolution, put together from parts that it is asked for. Many parts
// change no more; the newest are asked for again each time, older ones in turn. One thread.
#pragma once

#include <cstdint>
#include <functional>

#include "analysis/values/density_part.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::session {

class LiveDensity {
 public:
  // In place of what is there of these slices. When slices of the part are longer, those that are there are joined, and
  // the other way round.
  void put(const DensityPart& part);
  // Everything before this is there.
  std::int64_t until_ns() const { return until_ns_; }
  const CallDensity& density() const { return density_; }

  // Asks for what is missing before `newest_ns` (of the job's axis, now), for the newest once more, and now and then
  // for an older part. All is there afterwards, unless it fails with what `ask` fails with, or `stopping`.
  using Ask = std::function<Result<DensityPart>(const DensityQuestion&)>;
  Status refresh(const Ask& ask, std::int64_t newest_ns, const std::function<bool()>& stopping);

 private:
  CallDensity density_;
  std::int64_t until_ns_ = 0;
  std::int64_t newest_ns_ = 0;  // of the last refresh()
  std::int64_t older_ns_ = 0;   // where the next older part begins
  unsigned refreshes_ = 0;
};

}  // namespace pclscope::session
