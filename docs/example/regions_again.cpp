// regions_again RUN.h5: the regions that the run's analysis found, and those that a Pipeline finds in the stored
// messages with another method. regions_again ENDPOINT: those of a running job.
#include <chrono>
#include <cstdio>
#include <string>

#include "analysis/pipeline/pipeline.hpp"
#include "analysis/store/reader.hpp"
#include "analysis/wire/subscriber.hpp"

namespace {

int fail(const pclscope::Error& error) { return std::fprintf(stderr, "%s\n", error.message.c_str()), 1; }

void print(const char* title, const pclscope::Snapshot& snapshot) {
  std::printf("%s\n", title);
  for (const pclscope::Region& region : snapshot.regions) {
    std::printf("  %llu messages inside ranks", static_cast<unsigned long long>(region.messages));
    for (const std::int32_t rank : region.ranks) std::printf(" %d", rank);
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pclscope;
  if (argc != 2) return std::fprintf(stderr, "usage: regions_again RUN.h5|ENDPOINT\n"), 2;
  const std::string target = argv[1];
  if (target.starts_with("ipc://") || target.starts_with("tcp://")) {
    auto subscriber = wire::Subscriber::connect(target);
    if (!subscriber) return fail(subscriber.error());
    const auto snapshot = (*subscriber)->ask(std::chrono::seconds(60));
    if (!snapshot) return fail(snapshot.error());
    print("now", *snapshot);
    return 0;
  }

  auto reader = store::Reader::open(target);
  if (!reader) return fail(reader.error());
  print("stored", (*reader)->summary());

  PipelineOptions options;
  options.regions.method = RegionMethod::correlation;
  Pipeline pipeline((*reader)->summary().application, options);
  constexpr std::uint64_t at_once = 65536;
  for (std::uint64_t first = 0; first < (*reader)->message_count(); first += at_once) {
    const auto messages = (*reader)->messages(first, at_once);
    if (!messages) return fail(messages.error());
    pipeline.add_messages(*messages);
  }
  pipeline.finish();
  print("by correlation", pipeline.snapshot());
  return 0;
}
