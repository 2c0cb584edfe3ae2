// Finds and drains the rings of one job on this node. One thread owns a Collector.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/collect/segment_file.hpp"

namespace pclscope::collect {

class Collector {
 public:
  // `token` is the job's secret; `directory` is where segments appear; `node`: of which node (record::node_key);
  // `part`: of its ranks, where several aggregators read them (record::BoardPart).
  explicit Collector(const std::string& token, std::string directory = "/dev/shm",
                     std::uint32_t node = record::this_node_key(), std::uint32_t part = 0);
  ~Collector();  // tells the recorders that nobody reads any more

  // Of a job that was only preloaded: the session that was begun. Rings of others are left alone: their aggregator died
  // before it found them, and their ranks, which are not in this session yet, remove them at their next call.
  void set_session(std::uint32_t session) { session_ = session; }
  bool in_session() const { return session_ != 0; }

  // Maps segments that appeared, attaches to them and unlinks their names, so that nothing is left behind whatever
  // dies. `found` is called for each. Returns how many were new.
  std::size_t discover(const std::function<void(SegmentFile&)>& found);
  // Problems with segments so far (unreadable, of another version): one line each, handed out once.
  std::vector<std::string> complaints();

  // Reads what lies in every ring now, in ring order per ring. Spans point into shared memory, valid during the call.
  // At most `limit` events per ring: slices keep the analysis in the caches, and no busy ring starves the others.
  // Returns the number of events.
  using Sink = std::function<void(std::int32_t rank, std::uint32_t thread, std::span<const record::Event>)>;
  // Who gets the call_path events, each before the events after it; no other sink gets them.
  void tell_paths(Sink paths) { paths_ = std::move(paths); }
  std::uint64_t drain(std::uint64_t limit, const Sink& sink);
  double fullest() const;             // of all rings, 0 to 1
  std::uint64_t unread() const;       // events in all rings
  bool rings_bell() const;            // every thread does when its ring fills (interpose/record/bell.hpp)
  std::uint64_t most_unread() const;  // events that can be unread in one ring, 0 without rings

  const std::vector<std::unique_ptr<SegmentFile>>& segments() const { return segments_; }
  bool empty() const;             // no unread event in any ring
  std::size_t processes() const;  // that have shown up (threads of one process count once)
  bool threads_missing() const;   // a process says that it has more segments than were found
  std::size_t finalized() const;  // of those, how many entered MPI_Finalize

 private:
  void part(SegmentFile& segment, std::span<const record::Event> events, const Sink& sink);

  std::string prefix_;
  std::uint32_t part_;
  std::string directory_;
  std::uint32_t session_ = 0;  // 0: there are none
  Sink paths_;
  std::vector<std::unique_ptr<SegmentFile>> segments_;
  std::vector<std::string> complaints_;
  std::set<std::string> refused_;  // names complained about
};

// Names of a part's rings, which nobody reads any more: its aggregator died.
void remove_rings(const std::string& token, std::uint32_t part);
// Removes what a job may have left of this node in `directory`: segments and the board. Returns the number of files.
std::size_t remove_leftovers(const std::string& token, const std::string& directory = "/dev/shm",
                             std::uint32_t node = record::this_node_key());

}  // namespace pclscope::collect
