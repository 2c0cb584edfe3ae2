#include "analysis/store/writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <vector>

#include "analysis/store/commit_file.hpp"
#include "analysis/store/driver.hpp"
#include "analysis/store/sites.hpp"
#include "analysis/store/summary.hpp"
#include "analysis/store/table.hpp"
#include "analysis/store/target.hpp"

namespace pclscope::store {
namespace {

// Texts that may change have a fixed place: the structure of the file does not change with them.
constexpr std::size_t command_capacity = 2048;
constexpr std::size_t name_capacity = 256;

std::string now_text() {
  char text[40];
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Hdf5Handle creation_properties() {
  Hdf5Handle creation = own_properties(H5Pcreate(H5P_FILE_CREATE));
  // Space is never used twice: until the next commit the file on disk still refers to what we freed.
  H5Pset_file_space_strategy(creation.get(), H5F_FSPACE_STRATEGY_NONE, false, 1);
  H5Pset_istore_k(creation.get(), 16);  // chunk index nodes of 1 KiB instead of 2: most tables have one chunk
  return creation;
}

}  // namespace

struct Writer::State {
  std::string path;
  WriterOptions options;
  std::unique_ptr<CommitFile> file;
  Hdf5Handle root;
  TableWriter<Message> messages;
  TableWriter<WindowRow> windows;
  TableWriter<WindowRegionRow> window_regions;
  SiteWriter sites;
  Hdf5Handle summary_group;
  SummaryWriter summaries[2];
  std::int32_t current = 0;      // the summary that the file on disk shows
  bool summary_changed = false;  // the other one is newer

  std::vector<Message> buffered;
  std::vector<WindowRow> buffered_windows;
  std::vector<WindowRegionRow> buffered_regions;
  std::uint64_t message_rows = 0;  // written, without the buffered ones
  std::uint64_t window_rows = 0;
  std::uint64_t region_rows = 0;
  std::uint64_t messages_not_stored = 0;
  std::uint64_t windows_not_stored = 0;
  std::string texts[3];  // job, command, mpi as the file has them
  std::optional<Error> broken;
  bool closed = false;

  ~State();
  bool create_file();
  bool create_layout();
  bool write_messages(std::span<const Message> rows);
  bool write_windows();
  bool write_texts(const Snapshot& snapshot);
  bool flush();
  bool close_file();
  Status check(bool good);
  Status ready() const;
};

Writer::State::~State() {
  if (!closed && root) {
    if (broken) file->discard();
    close_file();
  }
}

// Turns the first failure into the writer's lasting error.
Status Writer::State::check(bool good) {
  if (good || broken) return broken ? Status(*broken) : Status();
  const std::string text = hdf5_error();
  broken = file->error() != 0 ? system_error(path, file->error())
                              : Error{ErrorCode::io, "cannot write " + path + ": " + text};
  file->discard();
  return *broken;
}

Status Writer::State::ready() const {
  if (broken) return *broken;
  if (closed) return Error{ErrorCode::bad_argument, "cannot write " + path + ": it is closed already"};
  return {};
}

bool Writer::State::create_file() {
  const Hdf5Handle access = access_through(*file);
  const Hdf5Handle creation = creation_properties();
  if (!access || !creation) return false;
  root = own_file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()));
  return root && create_layout() && H5Fflush(root.get(), H5F_SCOPE_GLOBAL) >= 0 && file->commit();
}

// Top down and attributes first: what says how much counts lies at lower addresses, so it is committed last.
bool Writer::State::create_layout() {
  const hid_t top = root.get();
  bool good = create_text(top, "format", "pclscope", 8) && create_number(top, "version_major", format_major) &&
              create_number(top, "version_minor", format_minor) && create_number(top, "complete", std::uint8_t{0}) &&
              create_text(top, "created", now_text(), 20) && create_text(top, "tool_version", PCLSCOPE_VERSION, 32) &&
              create_text(top, "job", "", name_capacity) && create_text(top, "mpi", "", name_capacity) &&
              create_text(top, "command", "", command_capacity);
  summary_group = create_group(top, "summary");
  good = good && summary_group && create_number(summary_group.get(), "current", std::int32_t{0});
  good = good && messages.create(top, "messages", options.rows_per_chunk) &&
         create_number(messages.group(), "not_stored", std::uint64_t{0});
  good =
      good && windows.create(top, "windows", 1024) && create_number(windows.group(), "not_stored", std::uint64_t{0});
  good = good && window_regions.create(top, "window_regions", 4096) && sites.create(top);
  return good && summaries[0].create(summary_group.get(), "0") && summaries[1].create(summary_group.get(), "1");
}

bool Writer::State::write_messages(std::span<const Message> rows) {
  const std::uint64_t room = options.max_messages - std::min(options.max_messages, message_rows);
  const std::size_t stored = static_cast<std::size_t>(std::min<std::uint64_t>(rows.size(), room));
  messages_not_stored += rows.size() - stored;
  rows = rows.first(stored);
  while (!rows.empty()) {  // in pieces: the columns' scratch memory stays small
    const std::size_t piece = std::min<std::size_t>(rows.size(), options.rows_per_chunk);
    if (!messages.write(message_rows, rows.first(piece))) return false;
    message_rows += piece;
    rows = rows.subspan(piece);
  }
  return true;
}

bool Writer::State::write_windows() {
  const bool good = window_regions.write(region_rows - buffered_regions.size(), buffered_regions) &&
                    windows.write(window_rows - buffered_windows.size(), buffered_windows);
  buffered_regions.clear();
  buffered_windows.clear();
  return good;
}

bool Writer::State::write_texts(const Snapshot& snapshot) {
  const char* names[] = {"job", "command", "mpi"};
  const std::string* values[] = {&snapshot.job, &snapshot.application.command, &snapshot.application.mpi};
  bool good = true;
  for (int i = 0; i < 3; i++) {
    if (texts[i] == *values[i]) continue;
    texts[i] = *values[i];
    good = good && write_text(root.get(), names[i], texts[i]);
  }
  return good;
}

bool Writer::State::flush() {
  bool good = write_messages(buffered) && write_windows();
  buffered.clear();
  good = good && messages.set_rows(message_rows) && windows.set_rows(window_rows) &&
         window_regions.set_rows(region_rows) && sites.write() && write_number(messages.group(), "not_stored", messages_not_stored) &&
         write_number(windows.group(), "not_stored", windows_not_stored);
  const std::int32_t shown = summary_changed ? 1 - current : current;
  if (summary_changed) good = good && write_number(summary_group.get(), "current", shown);
  good = good && H5Fflush(root.get(), H5F_SCOPE_GLOBAL) >= 0 && file->commit();
  if (!good) return false;
  current = shown;
  summary_changed = false;
  return true;
}

bool Writer::State::close_file() {
  closed = true;
  const bool good = root.reset();  // HDF5 closes every object of the file with it and writes what is left
  return file->commit() && good;
}

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Writer::~Writer() {
  if (!state_->closed && !state_->broken) (void)close();
}

Result<std::unique_ptr<Writer>> Writer::create(const std::string& path, const WriterOptions& options) {
  silence_hdf5();
  const auto target = resolve_target(path);
  if (!target) return target.error();
  auto state = std::make_unique<State>();
  state->path = path;
  state->options = options;
  state->options.rows_per_chunk = std::clamp(options.rows_per_chunk, 1u, 1u << 20);
  const std::string draft = draft_name(*target);
  state->file = CommitFile::create(draft);
  if (!state->file) return system_error(path, errno);
  const Status made = state->check(state->create_file());
  if (made && std::rename(draft.c_str(), target->c_str()) == 0) {
    return std::unique_ptr<Writer>(new Writer(std::move(state)));
  }
  const int error = errno;
  ::unlink(draft.c_str());
  return made ? system_error(path, error) : made.error();
}

Status Writer::append(std::span<const Message> messages) {
  State& s = *state_;
  if (const Status ready = s.ready(); !ready) return ready;
  const std::size_t chunk = s.options.rows_per_chunk;
  if (s.buffered.size() + messages.size() < chunk) {
    s.buffered.insert(s.buffered.end(), messages.begin(), messages.end());
    return {};
  }
  if (!s.buffered.empty()) {  // full chunks: fewer, larger writes
    const std::size_t missing = chunk - s.buffered.size();
    s.buffered.insert(s.buffered.end(), messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(missing));
    messages = messages.subspan(missing);
    if (const Status status = s.check(s.write_messages(s.buffered)); !status) return status;
    s.buffered.clear();
  }
  const std::size_t whole = messages.size() / chunk * chunk;
  const Status status = s.check(s.write_messages(messages.first(whole)));
  messages = messages.subspan(whole);
  s.buffered.assign(messages.begin(), messages.end());
  return status;
}

Status Writer::append(const Window& window) {
  State& s = *state_;
  if (const Status ready = s.ready(); !ready) return ready;
  if (s.window_rows + s.region_rows + 1 + window.regions.size() > s.options.max_window_rows) {
    s.windows_not_stored++;
    return {};
  }
  WindowRow row;
  static_cast<RegionWindow&>(row) = window.all;
  row.begin_s = window.begin_s;
  row.length_s = window.length_s;
  row.regions_begin = s.region_rows;
  row.regions_count = window.regions.size();
  for (const RegionWindow& region : window.regions) {
    WindowRegionRow& stored = s.buffered_regions.emplace_back();
    static_cast<RegionWindow&>(stored) = region;
    stored.window = s.window_rows;
  }
  s.buffered_windows.push_back(row);
  s.window_rows++;
  s.region_rows += window.regions.size();
  return s.check(s.buffered_regions.size() < 4096 && s.buffered_windows.size() < 1024 ? true : s.write_windows());
}

Status Writer::append(std::span<const CallSite> sites) {
  State& s = *state_;
  if (const Status ready = s.ready(); !ready) return ready;
  s.sites.add(sites);
  return {};
}

Status Writer::summarize(const Snapshot& snapshot) {
  State& s = *state_;
  if (const Status ready = s.ready(); !ready) return ready;
  s.summary_changed = true;
  // Never the copy that the file on disk shows.
  return s.check(s.write_texts(snapshot) && s.summaries[1 - s.current].write(snapshot));
}

Status Writer::flush() {
  State& s = *state_;
  const Status ready = s.ready();
  return ready ? s.check(s.flush()) : ready;
}

Status Writer::close() {
  State& s = *state_;
  if (s.broken) return *s.broken;
  if (s.closed) return {};
  bool good = s.flush() && write_number(s.root.get(), "complete", std::uint8_t{1});
  good = good && s.close_file();
  return s.check(good);
}

}  // namespace pclscope::store
