// What a Writer holds: the file, its tables, and what each of them may take of the budget. Private to analysis/store.
#pragma once

#include <optional>
#include <vector>

#include "analysis/store/chunked_table.hpp"
#include "analysis/store/commit_file.hpp"
#include "analysis/store/sites.hpp"
#include "analysis/store/summary.hpp"
#include "analysis/store/table.hpp"
#include "analysis/store/window_stages.hpp"
#include "analysis/store/writer.hpp"

namespace pclscope::store {

// Parts of the budget, in bytes. What summaries, windows and sites have not used yet is kept free for them.
struct Share {
  std::uint64_t limit = 0;
  std::uint64_t used = 0;
  std::uint64_t left() const { return limit - std::min(limit, used); }
};

struct Writer::State {
  std::string path;       // as the user wrote it
  std::string target;     // what it means
  WriterOptions options;  // the budget is no larger than the disk was when the file began
  std::uint64_t asked_budget_bytes = 0;
  std::unique_ptr<CommitFile> file;
  Hdf5Handle root, tails, times;
  ChunkedWriter<Message> messages;
  ChunkedWriter<CollectiveCall> collectives;
  ChunkedWriter<MpiCall> calls;
  std::uint64_t calls_left_out = 0, calls_shed = 0;
  TableWriter<WindowRow> windows;
  TableWriter<WindowRegionRow> window_regions;
  SiteWriter sites;
  Hdf5Handle summary_group;
  SummaryWriter summaries[2];
  std::int32_t current = 0;      // the summary that the file on disk shows
  bool summary_changed = false;  // the other one is newer
  bool ranks_missing = false;    // according to the last one

  WindowStages stages{0};
  std::vector<WindowRow> buffered_windows;
  std::vector<WindowRegionRow> buffered_regions;
  std::uint64_t window_rows = 0;  // with the buffered ones
  std::uint64_t region_rows = 0;
  std::uint64_t windows_not_stored = 0;
  std::string texts[3];  // job, command, mpi as the file has them
  Share summary_shares[2], window_share, site_share, collective_share, call_share;
  std::optional<Error> broken;
  bool closed = false;
  bool heeds_disk = false;  // rows go only where they leave room for what must follow; not of a copy, which may fail

  ~State();
  // A new file; the rest of the state is in order when it succeeds. From a copy of blank_dump() where that has the
  // chunks that are asked for.
  bool create_file(const std::string& draft);
  bool create_file_from(std::span<const std::byte> blank, const std::string& draft);
  bool append(std::span<const Message> rows);
  bool append(std::span<const CollectiveCall> rows);
  bool append(std::span<const MpiCall> rows);
  bool append(const Window& window);
  bool summarize(const Snapshot& snapshot);
  bool flush();
  bool finish();   // after it nothing can be appended
  void compact();  // after finish(): a copy without what has become unused takes the file's place, if one can be made
  Status check(bool good);
  Status ready() const;

 private:
  bool create_layout(const Layout& layout);
  bool open_root(const std::string& draft, std::span<const std::byte> blank);
  void share_budget();
  std::uint64_t room() const;
  std::uint64_t room_for_windows() const;
  std::uint64_t disk_beside(std::uint64_t promised) const;
  bool store_window(const Window& window);
  bool write_windows();
  bool write_texts(const Snapshot& snapshot);
  bool close_file();
  bool copy_to(State& to) const;
  bool compact_into(const std::string& draft);
  template <class Row>
  bool append_within(Share& share, ChunkedWriter<Row>& table, std::span<const Row> rows);
  template <class Action>
  bool within(Share& share, Action&& action);
};

}  // namespace pclscope::store
