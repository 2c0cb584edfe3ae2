#include "analysis/store/writer_state.hpp"

#include <algorithm>
#include <ctime>

#include "analysis/store/blank.hpp"
#include "analysis/store/driver.hpp"
#include "analysis/store/target.hpp"
#include "analysis/store/version.hpp"

namespace pclscope::store {
namespace {

// Texts that may change have a fixed place: the structure of the file does not change with them.
constexpr std::size_t command_capacity = 2048;
constexpr std::size_t name_capacity = 256;

constexpr std::uint64_t unlimited = std::uint64_t{1} << 60;
constexpr std::uint64_t slack = 32 << 10;  // never promised to anybody
constexpr std::uint64_t buffered_window_rows = 1024, buffered_region_rows = 4096;

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
  // Chunk index nodes of 304 bytes instead of 2 KiB: most tables have one chunk. See index_node_bytes.
  H5Pset_istore_k(creation.get(), 4);
  return creation;
}

// The tails, twice all columns of a chunk, take a sixteenth of the budget at most.
std::uint32_t rows_that_fit(const WriterOptions& options) {
  const std::uint64_t row = 2 * (row_bytes<PackedMessage>() + row_bytes<PackedCollective>() + row_bytes<PackedCall>());
  const std::uint64_t most = options.budget_bytes == 0 ? most_rows_per_chunk : options.budget_bytes / 16 / row;
  const auto asked = std::clamp<std::uint64_t>(options.rows_per_chunk, 1, most_rows_per_chunk);
  return static_cast<std::uint32_t>(std::min(asked, most));
}

}  // namespace

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

bool Writer::State::create_file(const std::string& draft) {
  options.rows_per_chunk = rows_that_fit(options);
  if (options.budget_bytes != 0) file->set_limit(options.budget_bytes);
  if (!create_file_from(options.rows_per_chunk == blank_rows_per_chunk ? blank_dump() : std::span<const std::byte>(),
                        draft) ||
      !write_text(root.get(), "created", now_text()) || H5Fflush(root.get(), H5F_SCOPE_GLOBAL) < 0 || !file->commit())
    return false;
  share_budget();
  return true;
}

bool Writer::State::create_file_from(std::span<const std::byte> blank, const std::string& draft) {
  const Layout layout(blank.empty() ? Layout::From::nothing : Layout::From::blank);
  return open_root(draft, blank) && create_layout(layout);
}

bool Writer::State::open_root(const std::string& draft, std::span<const std::byte> blank) {
  const Hdf5Handle access = access_through(*file);
  const Hdf5Handle creation = creation_properties();
  if (!access || !creation || !file->begin_with(blank)) return false;
  root = own_file(blank.empty() ? H5Fcreate(draft.c_str(), H5F_ACC_TRUNC, creation.get(), access.get())
                                : H5Fopen(draft.c_str(), H5F_ACC_RDWR, access.get()));
  return static_cast<bool>(root);
}

// Top down and attributes first: what says how much counts lies at lower addresses, so it is committed last.
bool Writer::State::create_layout(const Layout& layout) {
  const hid_t top = root.get();
  bool good = layout.text(top, "format", "pclscope", 8) && layout.number(top, "version_major", format_major) &&
              layout.number(top, "version_minor", format_minor) && layout.number(top, "complete", std::uint8_t{0}) &&
              layout.number(top, "closed", std::uint8_t{0}) && layout.text(top, "created", "", 20) &&
              layout.text(top, "tool_version", PCLSCOPE_VERSION, 32) && layout.text(top, "job", "", name_capacity) &&
              layout.text(top, "mpi", "", name_capacity) && layout.text(top, "command", "", command_capacity);
  summary_group = layout.group(top, "summary");
  good = good && summary_group && layout.number(summary_group.get(), "current", std::int32_t{0});
  good = good && messages.create(layout, top, "messages", options.rows_per_chunk) &&
         collectives.create(layout, top, "collectives", options.rows_per_chunk) &&
         calls.create(layout, top, "calls", options.rows_per_chunk) &&
         layout.number(calls.group(), "shed", std::uint64_t{0});
  tails = layout.group(top, "tails");
  good = good && tails && messages.create_tails(layout, tails.get(), "messages") &&
         collectives.create_tails(layout, tails.get(), "collectives") &&
         calls.create_tails(layout, tails.get(), "calls");
  times = layout.group(top, "chunk_times");
  good = good && times && messages.create_times(layout, times.get(), "messages") &&
         collectives.create_times(layout, times.get(), "collectives") &&
         calls.create_times(layout, times.get(), "calls");
  good = good && windows.create(layout, top, "windows", 256) &&
         layout.number(windows.group(), "not_stored", std::uint64_t{0});
  good = good && window_regions.create(layout, top, "window_regions", 512) && sites.create(layout, top);
  return good && summaries[0].create(layout, summary_group.get(), "0") &&
         summaries[1].create(layout, summary_group.get(), "1");
}

void Writer::State::share_budget() {
  const bool bounded = options.budget_bytes != 0;
  const std::uint64_t taken =
      file->end() + messages.tail_growth() + collectives.tail_growth() + calls.tail_growth() + slack;
  const std::uint64_t free = bounded ? options.budget_bytes - std::min(options.budget_bytes, taken) : unlimited;
  window_share.limit = bounded ? free / 8 : unlimited;
  const std::uint64_t summaries_take =
      bounded ? std::max(free / 16, std::min<std::uint64_t>(free / 4, 1'500'000)) : unlimited;
  for (Share& share : summary_shares) share.limit = summaries_take / 2;
  site_share.limit = bounded ? free / 32 : unlimited;
  collective_share.limit = call_share.limit = bounded ? free / 4 : unlimited;
  // Something of it for the rows of a chunk that are allocated and not used yet.
  stages = WindowStages(window_share.limit / 8 * 7);
  if (bounded) sites.limit(site_share.limit);
}

std::uint64_t Writer::State::disk_beside(std::uint64_t promised) const {
  const std::uint64_t left = heeds_disk ? file->disk_left() : unlimited;
  return left - std::min(left, promised);
}

// What chunks of messages, collectives and calls may take now.
std::uint64_t Writer::State::room() const {
  if (options.budget_bytes == 0) return unlimited;
  const std::uint64_t promised = messages.tail_growth() + collectives.tail_growth() + calls.tail_growth() +
                                 summary_shares[0].left() + summary_shares[1].left() + window_share.left() +
                                 site_share.left() + slack;
  const std::uint64_t taken = file->end() + promised;
  return std::min(options.budget_bytes - std::min(options.budget_bytes, taken), disk_beside(promised));
}

std::uint64_t Writer::State::room_for_windows() const {
  if (options.budget_bytes == 0) return window_share.left();
  return std::min(window_share.left(),
                  disk_beside(messages.tail_growth() + collectives.tail_growth() + calls.tail_growth() +
                              summary_shares[0].left() + summary_shares[1].left() + site_share.left() + slack));
}

// Counts what `action` takes.
template <class Action>
bool Writer::State::within(Share& share, Action&& action) {
  const std::uint64_t before = file->end();
  const bool good = action();
  share.used += file->end() - before;
  return good;
}

bool Writer::State::append(std::span<const Message> rows) {
  return messages.append(rows, [this] { return room(); });
}

template <class Row>
bool Writer::State::append_within(Share& share, ChunkedWriter<Row>& table, std::span<const Row> rows) {
  return within(share, [&] {
    const std::uint64_t before = file->end();
    return table.append(rows, [&] {
      const std::uint64_t left = share.left(), now = file->end() - before;
      return std::min(room(), left - std::min(left, now));
    });
  });
}

bool Writer::State::append(std::span<const CollectiveCall> rows) {
  return append_within(collective_share, collectives, rows);
}

bool Writer::State::append(std::span<const MpiCall> rows) { return append_within(call_share, calls, rows); }

bool Writer::State::append(const Window& window) {
  const auto ready_window = stages.add(window);
  return !ready_window || store_window(*ready_window);
}

bool Writer::State::store_window(const Window& window) {
  if (windows.growth(window_rows + 1) + window_regions.growth(region_rows + window.regions.size()) >
      room_for_windows()) {
    windows_not_stored += stages.factor();
    return true;
  }
  WindowRow row;
  static_cast<RegionWindow&>(row) = window.all;
  row.begin_s = window.begin_s;
  row.length_s = window.length_s;
  row.shed = window.shed;
  row.regions_begin = region_rows;
  row.regions_count = window.regions.size();
  for (const RegionWindow& region : window.regions) {
    WindowRegionRow& stored = buffered_regions.emplace_back();
    static_cast<RegionWindow&>(stored) = region;
    stored.window = window_rows;
  }
  buffered_windows.push_back(row);
  window_rows++;
  region_rows += window.regions.size();
  stages.spent((row_bytes<WindowRow>() + window.regions.size() * row_bytes<WindowRegionRow>()) * 11 / 10);
  return (buffered_regions.size() < buffered_region_rows && buffered_windows.size() < buffered_window_rows) ||
         write_windows();
}

bool Writer::State::write_windows() {
  const bool good = within(window_share, [this] {
    return window_regions.write(region_rows - buffered_regions.size(), buffered_regions) &&
           windows.write(window_rows - buffered_windows.size(), buffered_windows);
  });
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

bool Writer::State::summarize(const Snapshot& snapshot) {
  summary_changed = true;
  ranks_missing =
      std::any_of(snapshot.ranks.begin(), snapshot.ranks.end(), [](const RankSummary& rank) { return rank.missing; });
  // Never the copy that the file on disk shows.
  Share& share = summary_shares[1 - current];
  return write_texts(snapshot) && within(share, [&] { return summaries[1 - current].write(snapshot, share.left()); });
}

bool Writer::State::flush() {
  bool good = write_windows() && windows.set_rows(window_rows) && window_regions.set_rows(region_rows) &&
              within(site_share, [this] { return sites.write(); }) && messages.show() && collectives.show() &&
              calls.show() && write_number(calls.group(), "shed", calls_shed) &&
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

bool Writer::State::finish() {
  const auto last_window = stages.rest();
  bool good = !last_window || store_window(*last_window);
  good = good && messages.finish([this] { return room(); }) && collectives.finish([this] { return room(); }) &&
         calls.finish([this] { return room(); });
  return good && flush() && write_number(root.get(), "closed", std::uint8_t{1}) &&
         write_number(root.get(), "complete", static_cast<std::uint8_t>(!ranks_missing)) && close_file();
}

}  // namespace pclscope::store
