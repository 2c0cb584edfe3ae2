#include "analysis/store/table.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace pclscope::store {
namespace {

// Property lists are the same for thousands of columns, and making one costs as much as making a column: one of each
// for a thread that reads or writes. Nobody closes them: HDF5 does at the process's end, which may be before ours.

// No chunk cache: rows go straight to their place in the file, or come from it.
hid_t uncached() {
  const auto make = [] {
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, 0, 0, 1.0);
    return access;
  };
  static thread_local const hid_t access = make();
  return access;
}

// Unfilled: a chunk has its place for good, and only our rows are ever written into it; compressed ones once.
hid_t make_chunked(hsize_t chunk, bool compressed) {
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, 1, &chunk);
  if (compressed && (H5Pset_shuffle(properties) < 0 || H5Pset_deflate(properties, 1) < 0)) {
    H5Pclose(properties);
    return H5I_INVALID_HID;
  }
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  H5Pset_alloc_time(properties, H5D_ALLOC_TIME_INCR);
  H5Pset_obj_track_times(properties, false);
  return properties;
}

hid_t chunked(hsize_t chunk, bool compressed) {
  static thread_local std::map<std::pair<hsize_t, bool>, hid_t> known;
  const auto [at, is_new] = known.try_emplace({chunk, compressed}, H5I_INVALID_HID);
  if (is_new || at->second < 0) at->second = make_chunked(chunk, compressed);
  return at->second;
}

hid_t no_rows_yet() {
  static constexpr hsize_t none = 0, unlimited = H5S_UNLIMITED;
  static thread_local const hid_t space = H5Screate_simple(1, &none, &unlimited);
  return space;
}

Hdf5Handle select(hid_t dataset, std::uint64_t first, std::uint64_t count) {
  Hdf5Handle space = own_space(H5Dget_space(dataset));
  const hsize_t start = first, length = count;
  if (!space || H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &length, nullptr) < 0) return {};
  return space;
}

// Rows of a chunk; 1 without chunks. 0: its chunks have no dimension, which no writer makes but a changed byte can, and
// which HDF5 reads for ever.
std::uint64_t rows_in_chunk(hid_t dataset) {
  const Hdf5Handle properties = own_properties(H5Dget_create_plist(dataset));
  if (!properties) return 0;
  if (H5Pget_layout(properties.get()) != H5D_CHUNKED) return 1;
  hsize_t chunk = 0;
  return H5Pget_chunk(properties.get(), 1, &chunk) == 1 ? chunk : 0;
}

}  // namespace

Hdf5Handle Layout::group(hid_t parent, const char* name) const {
  return own_group(is_copied() ? H5Gopen2(parent, name, H5P_DEFAULT)
                               : H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

Column Column::create(hid_t group, const char* name, const char* unit, hid_t type, std::uint64_t rows_per_chunk,
                      bool compressed) {
  const hid_t properties = chunked(rows_per_chunk, compressed);
  if (properties < 0) return {};
  Column column;
  column.chunk_ = rows_per_chunk;
  column.dataset_ = own_dataset(H5Dcreate2(group, name, type, no_rows_yet(), H5P_DEFAULT, properties, uncached()));
  if (*unit && column && !create_text(column.dataset_.get(), "units", unit, std::char_traits<char>::length(unit))) {
    return {};
  }
  return column;
}

Column Column::open(hid_t group, const char* name) {
  Column column;
  column.dataset_ = own_dataset(H5Dopen2(group, name, uncached()));
  if (!column) {
    column.damaged_ = H5Lexists(group, name, H5P_DEFAULT) != 0;
    H5Eclear2(H5E_DEFAULT);
    return column;
  }
  const Hdf5Handle space = own_space(H5Dget_space(column.dataset_.get()));
  hsize_t extent = 0;
  if (H5Sget_simple_extent_ndims(space.get()) == 1) H5Sget_simple_extent_dims(space.get(), &extent, nullptr);
  column.extent_ = extent;
  column.sound_ = extent == 0 || rows_in_chunk(column.dataset_.get()) > 0;
  return column;
}

Column Column::copied(hid_t group, const char* name, std::uint64_t rows_per_chunk) {
  Column column;
  column.group_ = group;
  column.name_ = name;
  column.chunk_ = rows_per_chunk;
  return column;
}

bool Column::opened() {
  if (name_) dataset_ = own_dataset(H5Dopen2(group_, std::exchange(name_, nullptr), uncached()));
  return static_cast<bool>(dataset_);
}

std::uint64_t Column::rows_per_chunk() const { return std::max<std::uint64_t>(1, rows_in_chunk(dataset_.get())); }

bool Column::write(std::uint64_t first, std::uint64_t count, hid_t memory, const void* from) {
  if (!opened()) return false;
  if (first + count > extent_) {
    const hsize_t extent = first + count;
    if (H5Dset_extent(dataset_.get(), &extent) < 0) return false;
    extent_ = extent;
  }
  const Hdf5Handle place = select(dataset_.get(), first, count);
  const hsize_t length = count;
  const Hdf5Handle shape = own_space(H5Screate_simple(1, &length, nullptr));
  return place && H5Dwrite(dataset_.get(), memory, shape.get(), place.get(), H5P_DEFAULT, from) >= 0;
}

std::uint64_t Column::growth(std::uint64_t rows, std::uint64_t row_bytes) const {
  if (rows <= extent_) return 0;
  const std::uint64_t chunks = (rows + chunk_ - 1) / chunk_, known = (extent_ + chunk_ - 1) / chunk_;
  if (chunks == known) return 0;
  // A node of the index holds 4 to 8 chunks; above it there may be others, of which each level may be split.
  const std::uint64_t nodes = 1 + (chunks - known) / 3 + (chunks > 8 ? 3 : 0);
  return (chunks - known) * chunk_ * row_bytes + nodes * index_node_bytes;
}

bool Column::write_chunk(std::uint64_t chunk, std::span<const std::uint8_t> filtered) {
  if (!opened()) return false;
  constexpr std::uint64_t ahead = 32;  // chunks: resizing a dataset costs more than writing a chunk
  if ((chunk + 1) * chunk_ > extent_) {
    const hsize_t extent = (chunk / ahead + 1) * ahead * chunk_;
    if (H5Dset_extent(dataset_.get(), &extent) < 0) return false;
    extent_ = extent;
  }
  const hsize_t first = chunk * chunk_;
  return H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, 0, &first, filtered.size(), filtered.data()) >= 0;
}

bool Column::read_chunk(std::uint64_t chunk, std::vector<std::uint8_t>& filtered) const {
  const hsize_t first = chunk * rows_per_chunk();
  hsize_t size = 0;
  std::uint32_t skipped_filters = 0;
  if (H5Dget_chunk_storage_size(dataset_.get(), &first, &size) < 0) return false;
  filtered.resize(size);
  return H5Dread_chunk(dataset_.get(), H5P_DEFAULT, &first, &skipped_filters, filtered.data()) >= 0 &&
         skipped_filters == 0;
}

std::uint64_t Column::chunk_count() const {
  const Hdf5Handle space = own_space(H5Dget_space(dataset_.get()));
  hsize_t chunks = 0;
  return space && H5Dget_num_chunks(dataset_.get(), space.get(), &chunks) >= 0 ? chunks : 0;
}

bool Column::chunk_within(std::uint64_t chunk, std::uint64_t file_bytes) const {
  const hsize_t first = chunk * rows_per_chunk();
  haddr_t at = HADDR_UNDEF;
  hsize_t size = 0;
  unsigned skipped_filters = 0;
  return H5Dget_chunk_info_by_coord(dataset_.get(), &first, &skipped_filters, &at, &size) >= 0 && at != HADDR_UNDEF &&
         at <= file_bytes && size <= file_bytes - at;
}

bool Column::read(std::uint64_t first, std::uint64_t count, hid_t memory, void* to) const {
  if (!sound_) return false;
  const Hdf5Handle place = select(dataset_.get(), first, count);
  const hsize_t length = count;
  const Hdf5Handle shape = own_space(H5Screate_simple(1, &length, nullptr));
  return place && H5Dread(dataset_.get(), memory, shape.get(), place.get(), H5P_DEFAULT, to) >= 0;
}

}  // namespace pclscope::store
