#include "analysis/store/reader.hpp"

#include <cerrno>
#include <cstring>

#include "analysis/store/chunked_table.hpp"
#include "analysis/store/commit_file.hpp"
#include "analysis/store/corrected.hpp"
#include "analysis/store/damage.hpp"
#include "analysis/store/driver.hpp"
#include "analysis/store/sites.hpp"
#include "analysis/store/summary.hpp"
#include "analysis/store/table.hpp"
#include "analysis/store/version.hpp"

namespace pclscope::store {
namespace {

constexpr unsigned char hdf5_signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
constexpr std::uint64_t rows_per_read = 65536;
constexpr int tries_live = 10, tries_at_rest = 3;  // of the latter a writer may just have gone
constexpr std::chrono::seconds most_to_open(30);   // of a core; a small dump takes 25 ms

Error open_error(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) return {ErrorCode::not_found, "no such file: " + path};
  if (error == EACCES || error == EPERM) {
    return {ErrorCode::not_permitted, "cannot read " + path + ": " + std::strerror(error)};
  }
  if (error == EISDIR) return {ErrorCode::not_ours, path + " is not a file: give the path of a dump"};
  return {ErrorCode::io, "cannot read " + path + ": " + std::strerror(error)};
}

Error not_ours(const std::string& path) { return {ErrorCode::not_ours, path + " is not a dump of pclscope"}; }

Error damaged(const std::string& path, const std::string& what) {
  return {ErrorCode::damaged, path + " is damaged: " + what};
}

}  // namespace

struct Reader::State {
  std::string path;
  std::unique_ptr<CommitFile> file;
  Hdf5Handle root;
  ChunkedReader<Message> messages;
  ChunkedReader<CollectiveCall> collectives;
  ChunkedReader<MpiCall> calls;
  bool has_calls = false;
  TableReader<Message> plain_messages;  // of version 1
  std::vector<ChunkTimes> message_times, collective_times,
      call_times;  // chunk by chunk; of the newest chunks they may be missing
  CorrectedTimes corrected;
  TableReader<WindowRow> windows;
  TableReader<WindowRegionRow> window_regions;
  Snapshot summary;
  bool closed = false, complete = false;
  bool truncated = false;
  std::int32_t major = 0;
  bool sites_are_addresses = false;  // version 1.0: of a process that is gone
  std::uint64_t not_stored = 0, collectives_not_stored = 0, calls_not_stored = 0, calls_shed = 0;

  Status open();
  Status open_root();
  template <class Row, class Table>
  Result<std::vector<Row>> read(const char* name, const Table& table, std::uint64_t first, std::uint64_t count) const;
  Status open_summary(std::uint64_t most_rows);
  bool open_tables(std::uint64_t most_rows);
  bool lacks_rows() const {  // that a table says it has; of a file that was cut off, that is known
    return !truncated && (messages.lacks_rows() || collectives.lacks_rows() || calls.lacks_rows());
  }
  bool readable(std::uint64_t row) const;
  void limit_to_readable();
  template <class Row>
  bool take(const char* name, std::uint64_t most_rows, std::vector<Row>& to) const;
  void read_sites(std::uint64_t most_rows);
  std::vector<RowRange> within(std::span<const ChunkTimes> times, std::uint64_t per_chunk, std::uint64_t in_chunks,
                               std::uint64_t rows, std::int64_t begin_ns, std::int64_t end_ns) const;
};

Status Reader::State::open() {
  file = CommitFile::open(path);
  if (!file) return open_error(path, errno);
  unsigned char start[sizeof hdf5_signature];
  if (!file->read(0, sizeof start, start) || std::memcmp(start, hdf5_signature, sizeof start) != 0) {
    return not_ours(path);
  }
  if (const Status opened = open_root(); !opened) return opened;
  truncated = file->size() < file->end();
  closed = closed && !truncated;
  complete = complete && closed;
  const std::uint64_t most_rows = file->size();
  if (const Status summarized = open_summary(most_rows); !summarized) return summarized;
  if (!open_tables(most_rows)) return damaged(path, "a table is missing, or cannot be read");
  if (truncated) limit_to_readable();
  read_sites(most_rows);
  take("chunk_times/messages", most_rows, message_times);
  take("chunk_times/collectives", most_rows, collective_times);
  if (has_calls) take("chunk_times/calls", most_rows, call_times);
  H5Eclear2(H5E_DEFAULT);
  return {};
}

bool Reader::State::open_tables(std::uint64_t most_rows) {
  bool good = true;
  if (major == 1) {
    good = plain_messages.open(root.get(), "messages");
    plain_messages.limit(most_rows / sizeof(std::uint64_t));
    good = good && read_number_if_any(plain_messages.group(), "not_stored", not_stored);
  } else {
    good = messages.open(root.get(), "messages") && collectives.open(root.get(), "collectives");
    good = good && read_number_if_any(messages.group(), "not_stored", not_stored) &&
           read_number_if_any(collectives.group(), "not_stored", collectives_not_stored);
    has_calls = good && H5Lexists(root.get(), "calls", H5P_DEFAULT) > 0;
    good = good && (!has_calls || (calls.open(root.get(), "calls") &&
                                   read_number_if_any(calls.group(), "not_stored", calls_not_stored) &&
                                   read_number_if_any(calls.group(), "shed", calls_shed)));
  }
  good = good && windows.open(root.get(), "windows") && window_regions.open(root.get(), "window_regions");
  windows.limit(most_rows / sizeof(std::uint64_t));
  window_regions.limit(most_rows / sizeof(std::uint64_t));
  return good;
}

Status Reader::State::open_root() {
  const Hdf5Handle access = access_through(*file);
  root = own_file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
  if (!root) return damaged(path, hdf5_error());
  std::string format;
  if (!read_text(root.get(), "format", format) || format != "pclscope") return not_ours(path);
  if (!read_number(root.get(), "version_major", major)) return damaged(path, "no version");
  if (major < 1 || major > format_major) {
    return Error{ErrorCode::wrong_version, path + " has version " + std::to_string(major) +
                                               " of the format, this program reads versions 1 to " +
                                               std::to_string(format_major) + ": use the pclscope that wrote it"};
  }
  std::uint8_t word = 0;
  complete = read_number(root.get(), "complete", word) && word == 1;
  closed = read_number(root.get(), "closed", word) ? word == 1 : complete;
  std::int32_t minor = 0;
  sites_are_addresses = read_number(root.get(), "version_minor", minor) && major == 1 && minor == 0;
  return {};
}

Status Reader::State::open_summary(std::uint64_t most_rows) {
  std::int32_t current = 0;
  const Hdf5Handle group = own_group(H5Gopen2(root.get(), "summary", H5P_DEFAULT));
  if (!group || !read_number(group.get(), "current", current)) return damaged(path, "no summary");
  const char* names[] = {current == 0 ? "0" : "1", current == 0 ? "1" : "0"};
  bool found = read_summary(group.get(), names[0], most_rows, summary);
  if (!found && truncated) {  // the cut took it; the one before may lie further to the front
    summary = {};
    found = read_summary(group.get(), names[1], most_rows, summary);
  }
  if (!found) return damaged(path, "the summary cannot be read");
  corrected = CorrectedTimes(summary);
  read_text(root.get(), "job", summary.job);
  read_text(root.get(), "command", summary.application.command);
  read_text(root.get(), "mpi", summary.application.mpi);
  return {};
}

bool Reader::State::readable(std::uint64_t row) const {
  std::vector<Message> one;
  const bool good = plain_messages.read(row, 1, one);
  H5Eclear2(H5E_DEFAULT);
  return good;
}

// A chunk lies in one piece: when its last row can be read, all of them can.
void Reader::State::limit_to_readable() {
  if (major > 1) {
    messages.limit_to_readable(file->size());
    collectives.limit_to_readable(file->size());
    if (has_calls) calls.limit_to_readable(file->size());
    H5Eclear2(H5E_DEFAULT);
    return;
  }
  const std::uint64_t chunk = plain_messages.rows_per_chunk(), rows = plain_messages.rows();
  std::uint64_t good = 0;
  while (good < rows && readable(std::min(good + chunk, rows) - 1)) good = std::min(good + chunk, rows);
  std::uint64_t end = std::min(good + chunk, rows);
  while (good < end) {  // the cut goes through this chunk
    const std::uint64_t middle = good + (end - good) / 2;
    readable(middle) ? good = middle + 1 : end = middle;
  }
  plain_messages.limit(good);
}

// Rows [first, first + count), clipped, in pieces: column by column needs memory twice.
template <class Row, class Table>
bool read_pieces(const Table& table, std::uint64_t first, std::uint64_t count, std::vector<Row>& rows) {
  const std::uint64_t end = first + std::min(count, table.rows() - std::min(first, table.rows()));
  for (; first < end; first += std::min(rows_per_read, end - first)) {
    if (!table.read(first, std::min(rows_per_read, end - first), rows)) return false;
  }
  return true;
}

// A writer at work rearranges the chunk index under our hands, and what HDF5 has cached of it may not fit what it
// reads next. Every state of the file is a whole one, though: a result that two fresh looks agree on is right.
template <class Row, class Table>
Result<std::vector<Row>> Reader::State::read(const char* name, const Table& table, std::uint64_t first,
                                             std::uint64_t count) const {
  std::vector<Row> rows;
  if (closed || truncated || !file->is_being_written()) {
    if (read_pieces<Row>(table, first, count, rows)) return rows;
    return damaged(path, hdf5_error());
  }
  bool before = false;
  for (int look = 0; look < tries_live; look++) {
    const Hdf5Handle access = access_through(*file);
    const Hdf5Handle fresh_root = own_file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
    Table fresh;
    std::vector<Row> again;
    const bool good = fresh_root && fresh.open(fresh_root.get(), name) && fresh.rows() >= table.rows();
    fresh.limit(table.rows());
    if (!good || !read_pieces<Row>(fresh, first, count, again)) continue;
    if (before && again == rows) return rows;
    rows = std::move(again);
    before = true;
  }
  return damaged(path, "changes while it is read; try again");
}

// All rows of a table that a dump need not have. False: none.
template <class Row>
bool Reader::State::take(const char* name, std::uint64_t most_rows, std::vector<Row>& to) const {
  const std::string path_in(name);
  const std::size_t group = path_in.find('/');
  if (group != std::string::npos && H5Lexists(root.get(), path_in.substr(0, group).c_str(), H5P_DEFAULT) <= 0)
    return false;
  TableReader<Row> table;
  if (H5Lexists(root.get(), name, H5P_DEFAULT) <= 0 || !table.open(root.get(), name)) return false;
  table.limit(most_rows);
  if (table.rows() == 0) return false;  // saves the looks that a live file needs
  auto rows = read<Row>(name, table, 0, table.rows());
  if (rows) to = std::move(*rows);
  return static_cast<bool>(rows);
}

// A dump without its call sites (older, or cut off) is worth showing.
void Reader::State::read_sites(std::uint64_t most_rows) {
  FlatSites flat;
  if (take("sites", most_rows, flat.sites) && take("modules", most_rows, flat.modules) &&
      take("texts", most_rows, flat.texts)) {
    summary.sites = unflatten(flat);
  }
}

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::~Reader() {
  const std::string path = std::move(state_->path);
  state_.reset();
  dump_is_closed(path);
}

Result<std::unique_ptr<Reader>> Reader::open(const std::string& path) {
  silence_hdf5();
  dump_is_open(path);
  const CpuLimit limit(most_to_open);
  // A writer at work may change the file under our hands: then one of the next looks at it is a whole one.
  for (int tries = 1;; tries++) {
    auto state = std::make_unique<State>();
    state->path = path;
    const Status opened = state->open();
    const bool is_live = state->file && state->file->is_being_written();
    const bool is_whole = opened ? !state->lacks_rows() : opened.error().code != ErrorCode::damaged;
    if (!is_whole && tries < (is_live ? tries_live : tries_at_rest)) continue;
    if (opened && !is_whole) state->closed = state->complete = false;  // it was closed with all its rows
    if (opened) return std::unique_ptr<Reader>(new Reader(std::move(state)));
    if (opened.error().code != ErrorCode::damaged) dump_is_closed(path);
    return opened.error();
  }
}

bool Reader::closed() const { return state_->closed; }
bool Reader::complete() const { return state_->complete; }
const Snapshot& Reader::summary() const { return state_->summary; }
std::uint64_t Reader::message_count() const { return state_->messages.rows() + state_->plain_messages.rows(); }
std::uint64_t Reader::messages_not_stored() const { return state_->not_stored; }
std::uint64_t Reader::collective_count() const { return state_->collectives.rows(); }
std::uint64_t Reader::collectives_not_stored() const { return state_->collectives_not_stored; }

Result<std::vector<Message>> Reader::messages(std::uint64_t first, std::uint64_t count) const {
  silence_hdf5();
  const State& s = *state_;
  auto rows = s.major == 1 ? s.read<Message>("messages", s.plain_messages, first, count)
                           : s.read<Message>("messages", s.messages, first, count);
  if (rows && !s.corrected.empty())
    for (Message& message : *rows) s.corrected.apply(message);
  if (rows && state_->sites_are_addresses) {
    for (Message& message : *rows) message.send_site = message.recv_site = 0;
  }
  return rows;
}

std::vector<RowRange> Reader::State::within(std::span<const ChunkTimes> times, std::uint64_t per_chunk,
                                            std::uint64_t in_chunks, std::uint64_t rows, std::int64_t begin_ns,
                                            std::int64_t end_ns) const {
  const std::int64_t slack = corrected.most_ns();
  begin_ns = begin_ns > INT64_MIN + slack ? begin_ns - slack : INT64_MIN;
  end_ns = end_ns < INT64_MAX - slack ? end_ns + slack : INT64_MAX;
  std::vector<RowRange> found;
  const auto add = [&](std::uint64_t first, std::uint64_t count) {
    if (count == 0) return;
    if (!found.empty() && found.back().first + found.back().count == first) found.back().count += count;
    else found.push_back({first, count});
  };
  for (std::uint64_t chunk = 0; chunk * per_chunk < in_chunks; chunk++) {
    const bool known = chunk < times.size();
    if (known && (times[chunk].latest_ns < begin_ns || times[chunk].earliest_ns >= end_ns)) continue;
    add(chunk * per_chunk, std::min(per_chunk, in_chunks - chunk * per_chunk));
  }
  add(in_chunks, rows - in_chunks);
  return found;
}

std::vector<RowRange> Reader::messages_within(std::int64_t begin_ns, std::int64_t end_ns) const {
  const State& s = *state_;
  if (s.major == 1) return {{0, s.plain_messages.rows()}};
  return s.within(s.message_times, s.messages.rows_per_chunk(), s.messages.rows_in_chunks(), s.messages.rows(),
                  begin_ns, end_ns);
}

std::vector<RowRange> Reader::collectives_within(std::int64_t begin_ns, std::int64_t end_ns) const {
  const State& s = *state_;
  return s.within(s.collective_times, s.collectives.rows_per_chunk(), s.collectives.rows_in_chunks(),
                  s.collectives.rows(), begin_ns, end_ns);
}

Result<std::vector<CollectiveCall>> Reader::collectives(std::uint64_t first, std::uint64_t count) const {
  silence_hdf5();
  auto rows = state_->read<CollectiveCall>("collectives", state_->collectives, first, count);
  if (rows && !state_->corrected.empty())
    for (CollectiveCall& call : *rows) state_->corrected.apply(call);
  return rows;
}

bool Reader::has_calls() const { return state_->has_calls; }
std::uint64_t Reader::call_count() const { return state_->has_calls ? state_->calls.rows() : 0; }
std::uint64_t Reader::calls_not_stored() const { return state_->calls_not_stored; }
std::uint64_t Reader::calls_shed() const { return state_->calls_shed; }

std::vector<RowRange> Reader::calls_within(std::int64_t begin_ns, std::int64_t end_ns) const {
  const State& s = *state_;
  if (!s.has_calls) return {};
  return s.within(s.call_times, s.calls.rows_per_chunk(), s.calls.rows_in_chunks(), s.calls.rows(), begin_ns, end_ns);
}

Result<std::vector<MpiCall>> Reader::calls(std::uint64_t first, std::uint64_t count) const {
  silence_hdf5();
  if (!state_->has_calls) return std::vector<MpiCall>();
  auto rows = state_->read<MpiCall>("calls", state_->calls, first, count);
  if (rows && !state_->corrected.empty())
    for (MpiCall& call : *rows) state_->corrected.apply(call);
  return rows;
}

Result<std::vector<Window>> Reader::windows() const {
  silence_hdf5();
  const State& s = *state_;
  const auto rows = s.read<WindowRow>("windows", s.windows, 0, s.windows.rows());
  if (!rows) return rows.error();
  const auto all_regions = s.read<WindowRegionRow>("window_regions", s.window_regions, 0, s.window_regions.rows());
  if (!all_regions) return all_regions.error();
  const std::vector<WindowRegionRow>& regions = *all_regions;
  std::vector<Window> windows;
  std::uint64_t next = 0;
  for (const WindowRow& row : *rows) {
    // The writer was stopped between the two tables, or the file is damaged: what follows does not count.
    if (row.regions_begin != next || row.regions_count > regions.size() - next) break;
    Window& window = windows.emplace_back();
    window.begin_s = row.begin_s;
    window.length_s = row.length_s;
    window.shed = row.shed;
    window.all = row;
    window.all.region = -1;
    for (std::uint64_t i = 0; i < row.regions_count; i++) window.regions.push_back(regions[next + i]);
    next += row.regions_count;
  }
  return windows;
}

}  // namespace pclscope::store
