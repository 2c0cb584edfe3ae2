#include "analysis/collect/collector.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "analysis/collect/board_file.hpp"

namespace pclscope::collect {
namespace {

constexpr std::size_t most_complaints = 16;  // anybody can put files into /dev/shm, thousands even

// "p2-7-0" is rank 7 of part 2, "7-0" of the first part; `name` is what follows the job and the node.
bool is_of_part(std::string_view name, std::uint32_t part) {
  const bool names_one = name.size() > 1 && name[0] == 'p' && name[1] >= '0' && name[1] <= '9';
  std::string mark = "p";
  mark += std::to_string(part);
  mark += '-';
  return part == 0 ? !names_one : name.starts_with(mark);
}

}  // namespace

Collector::Collector(const std::string& token, std::string directory, std::uint32_t node, std::uint32_t part)
    : prefix_(shm_names(token, node)), part_(part), directory_(std::move(directory)) {}

Collector::~Collector() {
  for (auto& segment : segments_) segment->leave();
}

std::size_t Collector::discover(const std::function<void(SegmentFile&)>& found) {
  std::size_t count = 0;
  for (const std::string& name : files_with_prefix(directory_, prefix_)) {
    if (name.ends_with("-board") || name.ends_with("-nodes")) continue;
    if (!is_of_part(std::string_view(name).substr(prefix_.size()), part_) || refused_.contains(name)) continue;
    const std::string path = directory_ + "/" + name;
    auto segment = SegmentFile::map(path);
    if (!segment) {
      const ErrorCode code = segment.error().code;
      if (code == ErrorCode::damaged || code == ErrorCode::not_found) continue;  // being created or just removed
      if (refused_.size() < most_complaints) complaints_.push_back(segment.error().message);
      refused_.insert(name);
      continue;
    }
    if (session_ != 0 && (*segment)->session() != 0 && (*segment)->session() != session_) continue;
    // In this order: should we die in between, no name is left; and its process, which waits for us before it ends, is
    // there as long as somebody looks at it.
    ::unlink(path.c_str());
    segments_.push_back(std::move(*segment));
    found(*segments_.back());
    segments_.back()->attach(static_cast<std::uint32_t>(::getpid()));
    ++count;
  }
  return count;
}

std::vector<std::string> Collector::complaints() {
  std::vector<std::string> out;
  out.swap(complaints_);
  return out;
}

// The events between those that tell call paths, and those to whom they are for.
void Collector::part(SegmentFile& segment, std::span<const record::Event> events, const Sink& sink) {
  const auto is_path = [](const record::Event& e) { return e.kind == record::EventKind::call_path; };
  while (!events.empty()) {
    const bool paths = is_path(events.front());
    const auto end = std::find_if(events.begin(), events.end(), [&](const auto& e) { return is_path(e) != paths; });
    const auto count = static_cast<std::size_t>(end - events.begin());
    if (!paths) sink(segment.rank(), segment.thread(), events.first(count));
    else if (paths_) paths_(segment.rank(), segment.thread(), events.first(count));
    events = events.subspan(count);
  }
}

std::uint64_t Collector::drain(std::uint64_t limit, const Sink& sink) {
  std::uint64_t total = 0;
  for (auto& segment : segments_) {
    std::uint64_t left = limit;
    while (left > 0) {
      const auto events = segment->ring().peek(left);
      if (events.empty()) break;
      if (segment->header().paths_until.load(std::memory_order_relaxed) > segment->ring().consumed())
        part(*segment, events, sink);
      else sink(segment->rank(), segment->thread(), events);
      segment->was_read(events);
      segment->ring().release(events.size());
      left -= events.size();
      total += events.size();
    }
    segment->give_back();
  }
  return total;
}

double Collector::fullest() const {
  double fullest = 0;
  for (const auto& segment : segments_) {
    const std::uint64_t head = segment->header().head.load(std::memory_order_relaxed);
    const std::uint64_t unread = head - segment->ring().consumed();
    fullest = std::max(fullest, std::min(static_cast<double>(unread) / static_cast<double>(segment->capacity()), 1.0));
  }
  return fullest;
}

std::uint64_t Collector::unread() const {
  std::uint64_t events = 0;
  for (const auto& segment : segments_) {
    const std::uint64_t head = segment->header().head.load(std::memory_order_relaxed);
    events += std::min(head - segment->ring().consumed(), segment->most_unread());
  }
  return events;
}

bool Collector::rings_bell() const {
  return std::all_of(segments_.begin(), segments_.end(), [](const auto& s) { return s->header().rings_bell == 1; });
}

std::uint64_t Collector::most_unread() const {
  std::uint64_t most = 0;
  for (const auto& segment : segments_) most = std::max(most, segment->most_unread());
  return most;
}

bool Collector::empty() const {
  return std::all_of(segments_.begin(), segments_.end(), [](const auto& s) { return s->ring().peek(1).empty(); });
}

std::size_t Collector::processes() const {
  return static_cast<std::size_t>(
      std::count_if(segments_.begin(), segments_.end(), [](const auto& s) { return s->thread() == 0; }));
}

bool Collector::threads_missing() const {
  std::size_t expected = 0;
  for (const auto& segment : segments_) {
    if (segment->thread() == 0)
      expected += std::max(segment->header().thread_count.load(std::memory_order_acquire), 1u);
  }
  return expected > segments_.size();
}

std::size_t Collector::finalized() const {
  return static_cast<std::size_t>(std::count_if(segments_.begin(), segments_.end(), [](const auto& s) {
    return s->thread() == 0 && s->header().state.load(std::memory_order_acquire) == record::ProcessState::finalizing;
  }));
}

void remove_rings(const std::string& token, std::uint32_t part) {
  const std::string prefix = shm_names(token), directory = "/dev/shm/";
  for (const std::string& name : files_with_prefix(directory, prefix)) {
    const bool is_ring = !name.ends_with("-board") && !name.ends_with("-nodes");
    if (is_ring && is_of_part(std::string_view(name).substr(prefix.size()), part)) ::unlink((directory + name).c_str());
  }
}

std::size_t remove_leftovers(const std::string& token, const std::string& directory, std::uint32_t node) {
  return remove_files_of(token, directory, node);
}

}  // namespace pclscope::collect
