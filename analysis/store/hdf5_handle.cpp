#include "analysis/store/hdf5_handle.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace pclscope::store {
namespace {

herr_t keep_first(unsigned, const H5E_error2_t* error, void* to) {
  auto& text = *static_cast<std::string*>(to);
  if (text.empty() && error->desc) text = error->desc;
  return 0;
}

// What fits, and never half a UTF-8 character at the cut.
std::string cut(const std::string& text, std::size_t capacity) {
  if (text.size() <= capacity) return text;
  std::size_t size = capacity;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) size--;
  return text.substr(0, size);
}

}  // namespace

void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

std::string hdf5_error() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  H5Eclear2(H5E_DEFAULT);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.empty() ? "cut off or inconsistent" : text;
}

Hdf5Handle text_type(std::size_t bytes) {
  Hdf5Handle type = own_type(H5Tcopy(H5T_C_S1));
  if (H5Tset_size(type.get(), bytes) < 0 || H5Tset_strpad(type.get(), H5T_STR_NULLPAD) < 0 ||
      H5Tset_cset(type.get(), H5T_CSET_UTF8) < 0) {
    return {};
  }
  return type;
}

bool create_attribute(hid_t object, const char* name, hid_t type, hid_t memory, const void* value) {
  static thread_local const hid_t scalar = H5Screate(H5S_SCALAR);
  const Hdf5Handle attribute = own_attribute(H5Acreate2(object, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT));
  return attribute && H5Awrite(attribute.get(), memory, value) >= 0;
}

bool write_attribute(hid_t object, const char* name, hid_t memory, const void* value) {
  const Hdf5Handle attribute = own_attribute(H5Aopen(object, name, H5P_DEFAULT));
  return attribute && H5Awrite(attribute.get(), memory, value) >= 0;
}

// A damaged or foreign file may have any type and shape there: only a scalar is read into `value`.
bool read_attribute(hid_t object, const char* name, hid_t memory, void* value) {
  const Hdf5Handle attribute = own_attribute(H5Aopen(object, name, H5P_DEFAULT));
  if (!attribute) return false;
  const Hdf5Handle space = own_space(H5Aget_space(attribute.get()));
  return space && H5Sget_simple_extent_npoints(space.get()) == 1 && H5Aread(attribute.get(), memory, value) >= 0;
}

bool create_list(hid_t object, const char* name, std::span<const std::uint64_t> values) {
  const hsize_t count = values.size();
  const Hdf5Handle space = own_space(H5Screate_simple(1, &count, nullptr));
  const Hdf5Handle attribute =
      own_attribute(H5Acreate2(object, name, H5T_STD_U64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT));
  return attribute && H5Awrite(attribute.get(), H5T_NATIVE_UINT64, values.data()) >= 0;
}

bool write_list(hid_t object, const char* name, std::span<const std::uint64_t> values) {
  return write_attribute(object, name, H5T_NATIVE_UINT64, values.data());
}

bool read_list(hid_t object, const char* name, std::span<std::uint64_t> values) {
  const Hdf5Handle attribute = own_attribute(H5Aopen(object, name, H5P_DEFAULT));
  if (!attribute) return false;
  const Hdf5Handle space = own_space(H5Aget_space(attribute.get()));
  return space && H5Sget_simple_extent_npoints(space.get()) == static_cast<hssize_t>(values.size()) &&
         H5Aread(attribute.get(), H5T_NATIVE_UINT64, values.data()) >= 0;
}

bool create_text(hid_t object, const char* name, const std::string& value, std::size_t capacity) {
  const Hdf5Handle type = text_type(capacity);
  std::string padded = cut(value, capacity);
  padded.resize(capacity);
  return type && create_attribute(object, name, type.get(), type.get(), padded.data());
}

bool write_text(hid_t object, const char* name, const std::string& value) {
  const Hdf5Handle attribute = own_attribute(H5Aopen(object, name, H5P_DEFAULT));
  if (!attribute) return false;
  const Hdf5Handle type = own_type(H5Aget_type(attribute.get()));
  std::string padded = cut(value, H5Tget_size(type.get()));
  padded.resize(H5Tget_size(type.get()));
  return H5Awrite(attribute.get(), type.get(), padded.data()) >= 0;
}

bool read_text(hid_t object, const char* name, std::string& value) {
  const Hdf5Handle attribute = own_attribute(H5Aopen(object, name, H5P_DEFAULT));
  if (!attribute) return false;
  const Hdf5Handle space = own_space(H5Aget_space(attribute.get()));
  const Hdf5Handle type = own_type(H5Aget_type(attribute.get()));
  if (!space || !type || H5Sget_simple_extent_npoints(space.get()) != 1) return false;
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0) return false;
  std::string padded(H5Tget_size(type.get()), '\0');
  if (H5Aread(attribute.get(), type.get(), padded.data()) < 0) return false;
  value = padded.c_str();
  return true;
}

}  // namespace pclscope::store
