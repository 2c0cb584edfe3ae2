// A run that is over: what it recorded goes through the same analysis as a live one, into a dump. One thread.
#pragma once

#include <memory>
#include <string>

#include "analysis/blocked/blocked.hpp"
#include "analysis/pipeline/pipeline.hpp"
#include "analysis/store/writer.hpp"
#include "viewer/import/call_places.hpp"

namespace pclscope::importing {

struct OfflineOptions {
  std::int64_t window_ns = 100'000'000;
  Keep keep = Keep::interesting;
  std::uint64_t budget_bytes = 2'000'000'000;
  std::int64_t time_origin_realtime_ns = 0;
  std::uint64_t origin_ticks = 0;  // of the events; they are nanoseconds
};

class OfflineRun {
 public:
  // Refers to `places`, whose ids stand in Event::site. Fails as Writer::create().
  static Result<std::unique_ptr<OfflineRun>> begin(const Application& application, const CallPlaces& places,
                                                   const std::string& path, const OfflineOptions& options);
  void take(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  // No event before `until_ns` will come. `all`: nor is one held back.
  Status round(std::int64_t until_ns, bool all);
  // The dump is complete on the disk.
  Status finish(const std::string& job);
  const Snapshot& summary() const { return last_; }  // after finish()

 private:
  OfflineRun(Application application, const CallPlaces& places, const OfflineOptions& options);
  PipelineOptions hooked(const OfflineOptions& options);
  void store(const Status& status) {
    if (stored_ && !status) stored_ = status;
  }
  Status flush();

  const CallPlaces& places_;
  OfflineOptions options_;
  std::unique_ptr<store::Writer> writer_;
  Status stored_;
  std::uint64_t events_ = 0, flushed_events_ = 0;
  std::size_t told_sites_ = 0;
  std::uint64_t regions_told_ = 0;
  std::int64_t until_ns_ = 0;
  Snapshot last_;
  Pipeline pipeline_;  // its callbacks use the members above
  blocked::Blocked blocked_;
};

}  // namespace pclscope::importing
