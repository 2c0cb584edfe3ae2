#include "analysis/store/driver.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace pclscope::store {
namespace {

struct Info {  // what file access properties carry
  CommitFile* file;
};

struct OpenFile {
  H5FD_t base;  // HDF5's own part comes first
  CommitFile* file;
};

CommitFile& file_of(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file)->file; }
const CommitFile& file_of(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file)->file; }

H5FD_t* open_file(const char*, unsigned, hid_t access, haddr_t) {
  const auto* info = static_cast<const Info*>(H5Pget_driver_info(access));
  if (!info) return nullptr;
  auto* opened = new (std::nothrow) OpenFile{};
  if (!opened) return nullptr;
  opened->file = info->file;
  return &opened->base;
}

herr_t close_file(H5FD_t* file) {
  delete reinterpret_cast<OpenFile*>(file);
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  *flags = 0;  // neither aggregates nor accumulates: every write arrives alone, with its kind
  return 0;
}

haddr_t allocate(H5FD_t* file, H5FD_mem_t kind, hid_t, hsize_t size) {
  CommitFile& to = file_of(file);
  const std::uint64_t at = kind == H5FD_MEM_DRAW ? to.allocate_data(size) : to.allocate_structure(size);
  return at == CommitFile::no_place ? HADDR_UNDEF : at;
}

haddr_t end_of_allocation(const H5FD_t* file, H5FD_mem_t) { return file_of(file).end(); }

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  file_of(file).set_end(end);
  return 0;
}

// HDF5 refuses a file that is shorter than it says. Ours may have been cut off, and what is left shall be readable:
// a reader learns that a place is missing when it reads there.
haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) {
  return file_of(file).writable() ? std::max(file_of(file).size(), file_of(file).end()) : HADDR_MAX / 2;
}

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, size_t size, void* to) {
  return file_of(file).read(at, size, to) ? 0 : -1;
}

// The order in which structure that is already in the file may be overwritten, so that whatever has been written so
// far refers only to what is there (readers go the other way, from the headers down):
//   superblock   first: it says how long the file is, and it is that long by now;
//   B-tree       top down: a split node has a new right half (fresh, already written), its parent learns of both,
//                and only then the node itself loses the half that moved;
//   the rest, object headers last, high addresses first: columns before the group that says how many rows count.
int order_of(H5FD_mem_t kind, const void* from, size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(from);
  if (kind == H5FD_MEM_SUPER) return 0;
  if (kind == H5FD_MEM_BTREE && size > 6 && std::memcmp(bytes, "TREE", 4) == 0) return 256 - bytes[5];  // its level
  return kind == H5FD_MEM_OHDR ? 400 : 300;
}

herr_t write(H5FD_t* file, H5FD_mem_t kind, hid_t, haddr_t at, size_t size, const void* from) {
  if (kind == H5FD_MEM_DRAW) return file_of(file).write_data(at, size, from) ? 0 : -1;
  return file_of(file).write_structure(at, size, from, order_of(kind, from, size)) ? 0 : -1;
}

H5FD_class_t make_class() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(600);
#endif
  driver.name = "pclscope";
  driver.maxaddr = HADDR_MAX / 2;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(Info);
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.alloc = allocate;
  driver.get_eoa = end_of_allocation;
  driver.set_eoa = set_end_of_allocation;
  driver.get_eof = end_of_file;
  driver.read = read;
  driver.write = write;
  for (H5FD_mem_t& map : driver.fl_map) map = H5FD_MEM_DEFAULT;
  return driver;
}

}  // namespace

Hdf5Handle access_through(CommitFile& file) {
  static const H5FD_class_t driver = make_class();
  static const hid_t registered = H5FDregister(&driver);
  Hdf5Handle access = own_properties(H5Pcreate(H5P_FILE_ACCESS));
  const Info info{&file};
  if (!access || H5Pset_driver(access.get(), registered, &info) < 0 ||
      H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) < 0) {
    return {};
  }
  return access;
}

}  // namespace pclscope::store
