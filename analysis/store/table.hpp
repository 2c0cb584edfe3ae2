// A table of a dump: a group with the attribute `rows`, and in it one dataset per column. Datasets only grow, and may
// be longer than `rows`: what counts is the first `rows` entries. Private to analysis/store.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "analysis/rows/columns.hpp"
#include "analysis/rows/stored.hpp"
#include "analysis/store/hdf5_handle.hpp"

namespace pclscope::store {

// HDF5's types of a member: as rows/stored.hpp has it, text as a fixed-length string.
template <class T>
struct Stored {
  using Type = typename StoredAs<T>::Type;
  static Hdf5Handle file() { return not_owned(file_type<Type>()); }
  static Hdf5Handle memory() { return not_owned(memory_type<Type>()); }
};
template <std::size_t n>
struct Stored<std::array<char, n>> {
  using Type = std::array<char, n>;
  static Hdf5Handle file() { return text_type(n); }
  static Hdf5Handle memory() { return text_type(n); }
};

template <class Row>
std::uint64_t row_bytes() {
  std::uint64_t bytes = 0;
  describe([&]<class Base, class T>(const char*, const char*, T Base::*,
                                    const char*) { bytes += sizeof(typename Stored<T>::Type); },
           static_cast<const Row*>(nullptr));
  return bytes;
}

// More than one node of a chunk index takes, its share of the page in which it lies included (driver.cpp, writer.cpp).
inline constexpr std::uint64_t index_node_bytes = 1024;

// A column keeps to the group that it was given: the group must live as long.
class Column {
 public:
  // `compressed`: shuffled and deflated, for write_chunk() only.
  static Column create(hid_t group, const char* name, const char* unit, hid_t type, std::uint64_t rows_per_chunk,
                       bool compressed = false);
  static Column open(hid_t group, const char* name);  // false: not there, or damaged()
  // One without rows that create() made in another file, of which this one is a copy; opened when it is written.
  static Column copied(hid_t group, const char* name, std::uint64_t rows_per_chunk);
  explicit operator bool() const { return dataset_ || name_; }
  bool damaged() const { return damaged_; }  // the group names it, but it cannot be opened
  std::uint64_t extent() const { return extent_; }
  std::uint64_t rows_per_chunk() const;
  bool write(std::uint64_t first, std::uint64_t count, hid_t memory, const void* from);
  bool read(std::uint64_t first, std::uint64_t count, hid_t memory, void* to) const;
  // At most what the file grows by when rows up to `rows` are written.
  std::uint64_t growth(std::uint64_t rows, std::uint64_t row_bytes) const;

  // Of compressed columns: chunk number `chunk`, as the filters would leave it.
  bool write_chunk(std::uint64_t chunk, std::span<const std::uint8_t> filtered);
  bool read_chunk(std::uint64_t chunk, std::vector<std::uint8_t>& filtered) const;
  std::uint64_t chunk_count() const;  // that have a place in the file; 0 when the index cannot be read
  bool chunk_within(std::uint64_t chunk, std::uint64_t file_bytes) const;  // it lies before this place

 private:
  bool opened();

  Hdf5Handle dataset_;
  hid_t group_ = H5I_INVALID_HID;
  const char* name_ = nullptr;  // of one that is not open yet
  std::uint64_t chunk_ = 0;
  std::uint64_t extent_ = 0;
  bool sound_ = true;  // its chunks are rows
  bool damaged_ = false;
};

// How the structure of a new file comes about: it is made, piece by piece, or there as a whole, copied from a blank
// (blank.hpp), and only looked up.
class Layout {
 public:
  enum class From { nothing, blank };
  explicit Layout(From from) : from_(from) {}
  bool is_copied() const { return from_ == From::blank; }

  Hdf5Handle group(hid_t parent, const char* name) const;
  // Attributes. A copied one has the value of the blank: it must be the same in every file.
  template <class T>
  bool number(hid_t object, const char* name, const T& value) const {
    return is_copied() || create_number(object, name, value);
  }
  bool text(hid_t object, const char* name, const std::string& value, std::size_t capacity) const {
    return is_copied() || create_text(object, name, value, capacity);
  }
  // One for each member of Row; false when one cannot be made.
  template <class Row>
  bool columns(hid_t group, std::uint64_t rows_per_chunk, bool compressed, std::vector<Column>& columns) const {
    bool good = true;
    describe(
        [&]<class Base, class T>(const char* name, const char* unit, T Base::*, const char*) {
          columns.push_back(
              is_copied() ? Column::copied(group, name, rows_per_chunk)
                          : Column::create(group, name, unit, Stored<T>::file().get(), rows_per_chunk, compressed));
          good = good && columns.back();
        },
        static_cast<const Row*>(nullptr));
    return good;
  }

 private:
  From from_;
};

// Which rows it has is said with each call: of one type always.
class AnyTableWriter {
 public:
  template <class Row>
  bool create_as(const Layout& layout, hid_t parent, const char* name, std::uint64_t rows_per_chunk) {
    group_ = layout.group(parent, name);
    // Before the columns: a lower address, so `rows` is written after them (driver.cpp).
    return group_ && layout.number(group_.get(), "rows", std::uint64_t{0}) &&
           layout.columns<Row>(group_.get(), rows_per_chunk, false, columns_);
  }

  hid_t group() const { return group_.get(); }

  // At most what the file grows by when rows up to `rows` are written.
  template <class Row>
  std::uint64_t growth_as(std::uint64_t rows) const {
    std::uint64_t bytes = 0;
    std::size_t next = 0;
    describe(
        [&]<class Base, class T>(const char*, const char*, T Base::*, const char*) {
          bytes += columns_[next++].growth(rows, sizeof(typename Stored<T>::Type));
        },
        static_cast<const Row*>(nullptr));
    return bytes;
  }

  // Overwrites or appends rows [first, first + rows.size()). They count from set_rows() on.
  template <class Row>
  bool write_as(std::uint64_t first, std::span<const Row> rows) {
    if (rows.empty()) return true;
    bool good = true;
    std::size_t next = 0;
    describe(
        [&]<class Base, class T>(const char*, const char*, T Base::*member, const char*) {
          using Type = typename Stored<T>::Type;
          scratch_.resize(rows.size() * sizeof(Type));  // operator new's alignment suffices for every Type
          Type* to = reinterpret_cast<Type*>(scratch_.data());
          for (const Row& row : rows) *to++ = static_cast<Type>(row.*member);
          const Hdf5Handle memory = Stored<T>::memory();
          good = good && columns_[next].write(first, rows.size(), memory.get(), scratch_.data());
          next++;
        },
        static_cast<const Row*>(nullptr));
    return good;
  }

  bool set_rows(std::uint64_t rows) {
    if (rows == rows_) return true;
    rows_ = rows;
    return write_number(group_.get(), "rows", rows);
  }

 private:
  Hdf5Handle group_;
  std::vector<Column> columns_;
  std::vector<std::byte> scratch_;
  std::uint64_t rows_ = 0;
};

template <class Row>
class TableWriter : public AnyTableWriter {
 public:
  bool create(const Layout& layout, hid_t parent, const char* name, std::uint64_t rows_per_chunk) {
    return create_as<Row>(layout, parent, name, rows_per_chunk);
  }
  std::uint64_t growth(std::uint64_t rows) const { return growth_as<Row>(rows); }
  bool write(std::uint64_t first, std::span<const Row> rows) { return write_as<Row>(first, rows); }
};

template <class Row>
class TableReader {
 public:
  // False when there is no such table, or a column that is there cannot be opened. Columns that are missing (an older
  // minor version) read as default values.
  bool open(hid_t parent, const char* name) {
    group_ = own_group(H5Gopen2(parent, name, H5P_DEFAULT));
    if (!group_ || !read_number(group_.get(), "rows", rows_)) return false;
    if (rows_ == 0) return true;  // most tables of most dumps
    bool good = true;
    describe(
        [&]<class Base, class T>(const char* column, const char*, T Base::*, const char*) {
          columns_.push_back(Column::open(group_.get(), column));
          const bool none = !columns_.back() && !columns_.back().damaged();
          const char* former = none ? former_name<Row>(column) : nullptr;
          if (former) columns_.back() = Column::open(group_.get(), former);
          if (columns_.back()) rows_ = std::min(rows_, columns_.back().extent());
          any_ = any_ || columns_.back();
          good = good && !columns_.back().damaged();
        },
        static_cast<const Row*>(nullptr));
    if (!any_) rows_ = 0;
    return good;
  }

  hid_t group() const { return group_.get(); }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t rows_per_chunk() const {  // the same in all columns
    const auto column = std::find_if(columns_.begin(), columns_.end(), [](const Column& c) { return bool(c); });
    return column == columns_.end() ? 1 : column->rows_per_chunk();
  }
  void limit(std::uint64_t rows) { rows_ = std::min(rows_, rows); }

  // Appends rows [first, first + count), clipped to what there is.
  bool read(std::uint64_t first, std::uint64_t count, std::vector<Row>& to) const {
    if (first >= rows_) return true;
    count = std::min(count, rows_ - first);
    const std::size_t begin = to.size();
    to.resize(begin + count);
    std::vector<std::byte> scratch;
    bool good = true;
    std::size_t next = 0;
    describe(
        [&]<class Base, class T>(const char*, const char*, T Base::*member, const char*) {
          using Type = typename Stored<T>::Type;
          const Column& column = columns_[next++];
          if (!good || !column) return;
          scratch.resize(count * sizeof(Type));
          const Hdf5Handle memory = Stored<T>::memory();
          good = column.read(first, count, memory.get(), scratch.data());
          const Type* from = reinterpret_cast<const Type*>(scratch.data());
          for (std::size_t i = 0; good && i < count; i++) to[begin + i].*member = from_stored<T>(from[i]);
        },
        static_cast<const Row*>(nullptr));
    if (!good) to.resize(begin);
    return good;
  }

 private:
  Hdf5Handle group_;
  std::vector<Column> columns_;
  std::uint64_t rows_ = 0;
  bool any_ = false;
};

}  // namespace pclscope::store
