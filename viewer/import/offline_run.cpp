#include "viewer/import/offline_run.hpp"

#include <algorithm>
#include <utility>

#include "analysis/attribute/rest.hpp"
#include "analysis/callsite/site_sums.hpp"
#include "analysis/values/site_key.hpp"

namespace pclscope::importing {
namespace {

constexpr std::uint64_t flush_after = 5'000'000;  // events

}  // namespace

Result<std::unique_ptr<OfflineRun>> OfflineRun::begin(const Application& application, const CallPlaces& places,
                                                      const std::string& path, const OfflineOptions& options) {
  std::unique_ptr<OfflineRun> run(new OfflineRun(application, places, options));
  store::WriterOptions writing;
  writing.budget_bytes = options.budget_bytes;
  auto writer = store::Writer::create(path, writing);
  if (!writer) return writer.error();
  run->writer_ = std::move(*writer);
  const TickScale scale{options.origin_ticks, 1.0};
  run->pipeline_.set_tick_scale(scale);
  run->blocked_.set_tick_scale(scale);
  for (std::int32_t rank = 0; rank < application.ranks; ++rank)
    if (const std::int32_t node = application.node_of_rank[static_cast<std::size_t>(rank)]; node >= 0)
      run->pipeline_.set_node(rank, application.nodes[static_cast<std::size_t>(node)]);
  return run;
}

OfflineRun::OfflineRun(Application application, const CallPlaces& places, const OfflineOptions& options)
    : places_(places),
      options_(options),
      pipeline_(
          [&] {
            Application named = std::move(application);  // nodes become known rank by rank
            named.nodes.clear();
            named.node_of_rank.clear();
            return named;
          }(),
          hooked(options)),
      blocked_(pipeline_.measured().application.ranks, options.window_ns, pipeline_.measurement().matcher(),
               [](std::int32_t, std::uint64_t address, std::uint16_t) { return static_cast<std::uint32_t>(address); }) {
}

PipelineOptions OfflineRun::hooked(const OfflineOptions& options) {
  PipelineOptions to;
  to.window_ns = options.window_ns;
  to.keep = options.keep;
  to.clustering_share = 1;  // the same trace gives the same regions, however busy the machine is
  to.file_budget_bytes = options.budget_bytes;
  to.memory_bytes = 0;  // nobody asks questions while it runs
  // Sites are ids from the beginning.
  to.name_sites = [](std::span<Message> messages) {
    for (Message& m : messages) {
      m.send_site = site_address(m.send_site);
      m.recv_site = site_address(m.recv_site);
    }
  };
  to.name_call_sites = [](std::span<CollectiveCall> calls) {
    for (CollectiveCall& c : calls) c.site = site_address(c.site);
  };
  to.name_mpi_calls = [](std::span<MpiCall> calls) {
    for (MpiCall& c : calls) c.site = site_address(c.site);
  };
  if (options.keep != Keep::summaries) {
    to.on_messages = [this](std::span<const Message> rows) { store(writer_->append(rows)); };
    to.on_mpi_calls = [this](std::span<const MpiCall> rows) { store(writer_->append(rows)); };
    to.on_calls = [this](std::span<const CollectiveCall> rows) { store(writer_->append(rows)); };
  }
  to.on_window = [this](const Window& window) { store(writer_->append(window)); };
  return to;
}

void OfflineRun::take(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
  constexpr std::size_t at_once = 256;  // read by both: stays in the nearest cache
  for (; !events.empty(); events = events.subspan(std::min(at_once, events.size()))) {
    const auto chunk = events.first(std::min(at_once, events.size()));
    pipeline_.add(rank, thread, chunk);
    blocked_.add(rank, thread, chunk);
    events_ += chunk.size();
  }
}

Status OfflineRun::round(std::int64_t until_ns, bool all) {
  until_ns_ = std::max(until_ns_, until_ns);
  pipeline_.end_round(until_ns_, all);
  const Evaluation& results = pipeline_.evaluation();
  if (std::exchange(regions_told_, results.regions_version()) != regions_told_)
    blocked_.set_regions(results.region_of_rank());
  if (events_ - flushed_events_ < flush_after) return stored_;
  flushed_events_ = events_;
  store(flush());
  return stored_;
}

// What messages refer to is in the file before them.
Status OfflineRun::flush() {
  const std::span<const CallSite> all(places_.sites());
  if (const Status sites = writer_->append(all.subspan(told_sites_)); !sites) return sites;
  told_sites_ = all.size();
  const Status flushed = writer_->flush();
  if (flushed) pipeline_.evaluation().set_file_bytes(writer_->file_bytes());
  return flushed;
}

Status OfflineRun::finish(const std::string& job) {
  blocked_.end_polls();
  pipeline_.finish();
  store(flush());
  Evaluation& results = pipeline_.evaluation();
  results.set_not_stored(writer_->messages_not_stored());
  last_ = pipeline_.snapshot();
  last_.job = job;
  last_.time_origin_realtime_ns = options_.time_origin_realtime_ns;
  last_.finished = last_.ended = true;
  last_.live.window_s = static_cast<double>(options_.window_ns) * 1e-9;
  last_.live.window_end_realtime_ns =
      options_.time_origin_realtime_ns + static_cast<std::int64_t>(last_.duration_s * 1e9);
  blocked_.fill(last_, [](std::int32_t) { return INT64_MAX; });
  blocked_.fill_density(last_);
  add_times(last_.site_activity, blocked_.site_times(), SiteSums::most_pairs);
  last_.sites = places_.sites();
  attribute::settle_rest(last_, last_.duration_s);
  last_.traffic = results.traffic();
  const Evaluation::CallsLeftOut calls = results.calls_left_out();
  store(writer_->leave_out_calls(calls.all, calls.shed));
  store(writer_->summarize(last_));
  if (!stored_) return stored_;
  return writer_->close();
}

}  // namespace pclscope::importing
