#include "analysis/collect/collector.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>

namespace pclscope::collect {
namespace {

std::vector<std::string> files_with_prefix(const std::string& directory, const std::string& prefix) {
  std::vector<std::string> names;
  DIR* listing = ::opendir(directory.c_str());
  if (listing == nullptr) return names;
  while (const dirent* entry = ::readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.starts_with(prefix)) names.push_back(name);
  }
  ::closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Collector::Collector(std::string token, std::string directory)
    : prefix_(record::shm_prefix + token + "-"), directory_(std::move(directory)) {}

Collector::~Collector() {
  for (auto& segment : segments_) segment->leave();
}

std::size_t Collector::discover(const std::function<void(SegmentFile&)>& found) {
  std::size_t count = 0;
  for (const std::string& name : files_with_prefix(directory_, prefix_)) {
    if (name.ends_with("-board")) continue;
    if (std::find(refused_.begin(), refused_.end(), name) != refused_.end()) continue;
    const std::string path = directory_ + "/" + name;
    auto segment = SegmentFile::map(path);
    if (!segment) {
      const ErrorCode code = segment.error().code;
      if (code == ErrorCode::damaged || code == ErrorCode::not_found) continue;  // being created or just removed
      complaints_.push_back(segment.error().message);
      refused_.push_back(name);
      continue;
    }
    (*segment)->attach(static_cast<std::uint32_t>(::getpid()));
    ::unlink(path.c_str());
    segments_.push_back(std::move(*segment));
    found(*segments_.back());
    ++count;
  }
  return count;
}

std::vector<std::string> Collector::complaints() {
  std::vector<std::string> out;
  out.swap(complaints_);
  return out;
}

std::uint64_t Collector::drain(std::uint64_t limit, const Sink& sink) {
  std::uint64_t total = 0;
  for (auto& segment : segments_) {
    std::uint64_t left = limit;
    while (left > 0) {
      const auto events = segment->ring().peek(left);
      if (events.empty()) break;
      sink(segment->rank(), segment->thread(), events);
      segment->ring().release(events.size());
      left -= events.size();
      total += events.size();
    }
  }
  return total;
}

std::uint64_t Collector::largest_ring() const {
  std::uint64_t largest = 0;
  for (const auto& segment : segments_) largest = std::max(largest, segment->capacity());
  return largest;
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

std::size_t remove_leftovers(const std::string& token, const std::string& directory) {
  std::size_t count = 0;
  if (token.empty()) return count;
  for (const std::string& name : files_with_prefix(directory, record::shm_prefix + token + "-"))
    if (::unlink((directory + "/" + name).c_str()) == 0) ++count;
  return count;
}

}  // namespace pclscope::collect
