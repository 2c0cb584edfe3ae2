// The two tables that make a dump large. Full chunks are compressed, written once and never touched again. The rows of
// a chunk that is not full yet lie in a tail, uncompressed and twice: the copy that the file does not show is written,
// and one attribute, `rows` = [rows in chunks, rows in the tail, which copy of it], makes all of it count in one step.
// Beside them lies a table with the times of each chunk, by which a reader finds what it is asked for.
// Private to analysis/store.
#pragma once

#include <array>
#include <type_traits>

#include "analysis/store/packed_rows.hpp"
#include "analysis/store/plane_deflate.hpp"
#include "analysis/store/table.hpp"

namespace pclscope::store {

inline constexpr std::uint64_t most_rows_per_chunk = 1u << 20;
inline constexpr std::uint64_t rows_at_once = 1u << 15;  // to be read

template <class Row>
class ChunkedWriter {
 public:
  using PackedRow = typename Packed<Row>::Type;

  // The tails go to `tails`, which must lie behind `parent` (driver.cpp).
  bool create(const Layout& layout, hid_t parent, const char* name, std::uint64_t rows_per_chunk) {
    chunk_ = rows_per_chunk;
    group_ = layout.group(parent, name);
    const bool good = group_ && (layout.is_copied() || create_list(group_.get(), "rows", shown_)) &&
                      layout.number(group_.get(), "not_stored", std::uint64_t{0}) &&
                      layout.columns<PackedRow>(group_.get(), chunk_, true, columns_);
    filtered_.resize(columns_.size());
    return good;
  }
  bool create_tails(const Layout& layout, hid_t tails, const char* name) {
    tail_group_ = layout.group(tails, name);
    const std::uint64_t piece = std::min<std::uint64_t>(chunk_, 1024);
    return tail_group_ && tails_[0].create(layout, tail_group_.get(), "0", piece) &&
           tails_[1].create(layout, tail_group_.get(), "1", piece);
  }

  bool create_times(const Layout& layout, hid_t times, const char* name) {
    return times_.create(layout, times, name, 256);
  }

  // What the tails, and the times of one chunk more, may still grow by.
  std::uint64_t tail_growth() const {
    return tails_[0].growth(chunk_) + tails_[1].growth(chunk_) + times_.growth(chunk_count() + 1);
  }
  std::uint64_t not_stored() const { return not_stored_; }
  void count_not_stored(std::uint64_t rows) { not_stored_ += rows; }  // that were never appended
  hid_t group() const { return group_.get(); }
  std::uint64_t rows() const { return full_ + pending_.size(); }

  // `room()`: bytes by which the file may grow now. Once a chunk has not found room, what is in the tail stays there,
  // and whatever comes is counted only.
  template <class Room>
  bool append(std::span<const Row> rows, Room&& room) {
    while (!rows.empty() && !(closed_ && pending_.size() == chunk_)) {
      const std::size_t piece = std::min<std::size_t>(rows.size(), chunk_ - pending_.size());
      pending_.insert(pending_.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(piece));
      rows = rows.subspan(piece);
      if (pending_.size() == chunk_ && !write_chunk(room)) return false;
    }
    not_stored_ += rows.size();
    return true;
  }

  // The last chunk of an orderly end: it need not be full.
  template <class Room>
  bool finish(Room&& room) {
    return pending_.empty() || write_chunk(room);
  }

  // The chunks of a table of another file, as they are, and their times; nothing has been appended here, nothing is in
  // a tail there.
  bool copy(hid_t from, const char* name, const ChunkedWriter& other) {
    const Hdf5Handle group = own_group(H5Gopen2(from, name, H5P_DEFAULT));
    std::vector<Column> sources;
    describe([&]<class Base, class T>(const char* column, const char*, T Base::*,
                                      const char*) { sources.push_back(Column::open(group.get(), column)); },
             static_cast<const PackedRow*>(nullptr));
    for (std::uint64_t chunk = 0; chunk * chunk_ < other.full_; chunk++) {
      for (std::size_t i = 0; i < columns_.size(); i++) {
        if (!sources[i] || !sources[i].read_chunk(chunk, filtered_[i]) || !columns_[i].write_chunk(chunk, filtered_[i]))
          return false;
      }
    }
    full_ = other.full_;
    not_stored_ = other.not_stored_;
    TableReader<ChunkTimes> times;
    return times.open(from, ("chunk_times/" + std::string(name)).c_str()) && times.rows() == chunk_count() &&
           times.read(0, times.rows(), new_times_);
  }
  bool all_in_chunks() const { return pending_.empty(); }

  // Puts what is not in a chunk into the hidden tail, and makes it count from the next commit on.
  bool show() {
    if (!times_.write(chunk_count() - new_times_.size(), new_times_) || !times_.set_rows(chunk_count())) return false;
    new_times_.clear();
    const std::uint64_t hidden = 1 - shown_[2];
    const std::array<std::uint64_t, 3> next{full_, pending_.size(), hidden};
    if (next[0] == shown_[0] && next[1] == shown_[1]) return write_count();
    if (tail_of_[hidden] != full_) tail_rows_[hidden] = 0;  // what it holds belongs to an earlier chunk
    tail_of_[hidden] = full_;
    packed_.clear();
    pack(std::span<const Row>(pending_), tail_rows_[hidden], packed_);
    if (!tails_[hidden].write(tail_rows_[hidden], packed_)) return false;
    tail_rows_[hidden] = pending_.size();
    shown_ = next;
    return write_list(group_.get(), "rows", shown_) && write_count();
  }

 private:
  bool write_count() {
    return not_stored_ == counted_ || write_number(group_.get(), "not_stored", counted_ = not_stored_);
  }

  template <class Room>
  bool write_chunk(Room&& room) {
    if (closed_) return true;
    packed_.clear();
    pack(std::span<const Row>(pending_), 0, packed_);
    packed_.resize(chunk_, packed_.back());  // of a last chunk: what costs least
    std::uint64_t bytes = 0;
    std::size_t next = 0;
    describe(
        [&]<class Base, class T>(const char*, const char*, T Base::*member, const char*) {
          using Type = typename Stored<T>::Type;
          scratch_.resize(chunk_ * sizeof(Type));
          Type* to = reinterpret_cast<Type*>(scratch_.data());
          for (const PackedRow& row : packed_) *to++ = static_cast<Type>(row.*member);
          const auto filtered = deflate_.compress(scratch_.data(), chunk_, sizeof(Type), next);
          filtered_[next++].assign(filtered.begin(), filtered.end());
          bytes += filtered.size() + 4 * index_node_bytes;  // at worst a node of each level is split
        },
        static_cast<const PackedRow*>(nullptr));
    if (bytes > room()) return closed_ = true;
    for (std::size_t i = 0; i < columns_.size(); i++) {
      if (!columns_[i].write_chunk(full_ / chunk_, filtered_[i])) return false;
    }
    full_ += pending_.size();
    ChunkTimes& times = new_times_.emplace_back();
    for (const Row& row : pending_) {
      const auto [begin, end] = times_of(row);
      times = {std::min(times.earliest_ns, begin), std::max(times.latest_ns, end)};
    }
    pending_.clear();
    return true;
  }
  std::uint64_t chunk_count() const { return (full_ + chunk_ - 1) / chunk_; }

  std::uint64_t chunk_ = 1;
  Hdf5Handle group_, tail_group_;
  std::vector<Column> columns_;
  std::array<TableWriter<PackedRow>, 2> tails_;
  TableWriter<ChunkTimes> times_;
  std::vector<ChunkTimes> new_times_;                     // of the newest chunks; written by show()
  std::array<std::uint64_t, 2> tail_of_{}, tail_rows_{};  // what a copy holds: the chunk's first row, and how many rows
  std::array<std::uint64_t, 3> shown_{};                  // the attribute as last written
  std::uint64_t full_ = 0;                                // rows in chunks
  std::vector<Row> pending_;                              // after them
  std::uint64_t not_stored_ = 0, counted_ = 0;
  bool closed_ = false;  // no chunk finds room any more
  PlaneDeflate deflate_;
  std::vector<PackedRow> packed_;
  std::vector<std::uint8_t> scratch_;
  std::vector<std::vector<std::uint8_t>> filtered_;
};

template <class Row>
class ChunkedReader {
 public:
  using PackedRow = typename Packed<Row>::Type;

  // False when there is no such table, or when it contradicts itself.
  bool open(hid_t root, const char* name) {
    group_ = own_group(H5Gopen2(root, name, H5P_DEFAULT));
    std::array<std::uint64_t, 3> rows{};
    if (!group_ || !read_list(group_.get(), "rows", rows) || rows[2] > 1) return false;
    if (!open_columns(group_.get(), columns_, full_ = rows[0]) || !check_chunks()) return false;
    const std::string tail = "tails/" + std::string(name) + "/" + std::to_string(rows[2]);
    const Hdf5Handle tail_group = own_group(H5Gopen2(root, tail.c_str(), H5P_DEFAULT));
    tail_ = std::min(rows[1], chunk_);
    lacks_rows_ = full_ < rows[0];
    if (!tail_group || !open_columns(tail_group.get(), tail_columns_, tail_)) return false;
    return tail_ == 0 || full_ % chunk_ == 0;
  }

  hid_t group() const { return group_.get(); }
  std::uint64_t rows() const { return full_ + tail_; }
  std::uint64_t rows_in_chunks() const { return full_; }
  // As opened: there are fewer chunks than the table says.
  bool lacks_rows() const { return lacks_rows_; }
  std::uint64_t rows_per_chunk() const { return chunk_; }
  void limit(std::uint64_t rows) {
    full_ = std::min(full_, rows);
    tail_ = std::min(tail_, rows - full_);
  }

  // Of a file that was cut off after so many bytes: what is in front of the cut.
  void limit_to_readable(std::uint64_t file_bytes) {
    std::uint64_t good = 0;
    const auto within = [&](const Column& c) { return !c || c.chunk_within(good / chunk_, file_bytes); };
    while (good < full_ && std::all_of(columns_.begin(), columns_.end(), within))
      good += std::min(chunk_, full_ - good);
    std::vector<Row> tail;
    limit(good < full_ || !read(full_, tail_, tail) ? good : rows());
  }

  // Appends rows [first, first + count), clipped to what there is. Chunks are unpacked whole.
  bool read(std::uint64_t first, std::uint64_t count, std::vector<Row>& to) const {
    if (first >= rows()) return true;
    const std::uint64_t end = first + std::min(count, rows() - first);
    const std::size_t before = to.size();
    bool good = true;
    while (good && first < end) {
      const std::uint64_t begin = first < full_ ? first / chunk_ * chunk_ : full_;
      const std::uint64_t most = std::max(chunk_, rows_at_once / chunk_ * chunk_);
      const std::uint64_t until = first < full_ ? std::min(end, std::min(begin + most, full_)) : end;
      good = read_chunks(begin, until - begin, first - begin, to);
      first = until;
    }
    if (!good) to.resize(before);
    return good;
  }

 private:
  static bool open_columns(hid_t group, std::vector<Column>& columns, std::uint64_t& rows) {
    bool any = false, good = true;
    describe(
        [&]<class Base, class T>(const char* name, const char*, T Base::*, const char*) {
          columns.push_back(Column::open(group, name));
          good = good && !columns.back().damaged();
          if (!columns.back()) return;
          rows = std::min(rows, columns.back().extent());
          any = true;
        },
        static_cast<const PackedRow*>(nullptr));
    return any && good;
  }

  // A chunk is read whole: its size must be one that we would have written, in all columns. A row of a compressed
  // table may take less than a bit in the file, but a chunk has a place there.
  bool check_chunks() {
    const auto any = std::find_if(columns_.begin(), columns_.end(), [](const Column& c) { return bool(c); });
    chunk_ = any->rows_per_chunk();
    if (chunk_ > most_rows_per_chunk) return false;
    for (const Column& column : columns_) {
      if (column && column.rows_per_chunk() != chunk_) return false;
    }
    if (full_ > 0) full_ = std::min(full_, any->chunk_count() * chunk_);
    return true;
  }

  // Rows [skip, count) of the chunks, or of the tail, that begin at row `begin`.
  bool read_chunks(std::uint64_t begin, std::uint64_t count, std::uint64_t skip, std::vector<Row>& to) const {
    const std::vector<Column>& columns = begin < full_ ? columns_ : tail_columns_;
    std::vector<PackedRow> packed(count);
    std::vector<std::uint8_t> scratch;
    bool good = true;
    std::size_t next = 0;
    describe(
        [&]<class Base, class T>(const char*, const char*, T Base::*member, const char*) {
          using Type = typename Stored<T>::Type;
          const Column& column = columns[next++];
          if (!good || !column) return;
          scratch.resize(count * sizeof(Type));
          const Hdf5Handle memory = Stored<T>::memory();
          good = column.read(begin < full_ ? begin : 0, count, memory.get(), scratch.data());
          const Type* from = reinterpret_cast<const Type*>(scratch.data());
          for (std::size_t i = 0; good && i < count; i++) packed[i].*member = from_stored<T>(from[i]);
        },
        static_cast<const PackedRow*>(nullptr));
    if (!good) return false;
    std::vector<Row> rows;
    for (std::span<const PackedRow> rest(packed); !rest.empty(); rest = rest.subspan(std::min(rest.size(), chunk_))) {
      unpack(rest.first(std::min(rest.size(), chunk_)), rows);
    }
    to.insert(to.end(), rows.begin() + static_cast<std::ptrdiff_t>(skip), rows.end());
    return true;
  }

  Hdf5Handle group_;
  std::vector<Column> columns_, tail_columns_;
  std::uint64_t chunk_ = 1;
  std::uint64_t full_ = 0, tail_ = 0;
  bool lacks_rows_ = false;
};

}  // namespace pclscope::store
