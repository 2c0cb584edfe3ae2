// RAII over HDF5's identifiers, and its errors as one line of text. Private to analysis/store.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace pclscope::store {

class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Hdf5Handle() { reset(); }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  explicit operator bool() const { return id_ >= 0; }
  hid_t get() const { return id_; }
  // False when closing failed.
  bool reset() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

// HDF5 prints its errors on stderr unless told not to, per thread. Call it before the first call in each entry point.
void silence_hdf5();
// The deepest description on HDF5's error stack.
std::string hdf5_error();

inline Hdf5Handle own_file(hid_t id) { return {id, H5Fclose}; }
inline Hdf5Handle own_group(hid_t id) { return {id, H5Gclose}; }
inline Hdf5Handle own_dataset(hid_t id) { return {id, H5Dclose}; }
inline Hdf5Handle own_attribute(hid_t id) { return {id, H5Aclose}; }
inline Hdf5Handle own_space(hid_t id) { return {id, H5Sclose}; }
inline Hdf5Handle own_type(hid_t id) { return {id, H5Tclose}; }
// Of what nobody closes: HDF5's own types.
inline Hdf5Handle not_owned(hid_t id) {
  return {id, [](hid_t) -> herr_t { return 0; }};
}
inline Hdf5Handle own_properties(hid_t id) { return {id, H5Pclose}; }

// In memory and, little-endian, in the file.
template <class T>
hid_t memory_type();
template <class T>
hid_t file_type();
#define PCLSCOPE_STORE_TYPE(type, memory, file) \
  template <>                                   \
  inline hid_t memory_type<type>() {            \
    return memory;                              \
  }                                             \
  template <>                                   \
  inline hid_t file_type<type>() {              \
    return file;                                \
  }
PCLSCOPE_STORE_TYPE(std::uint8_t, H5T_NATIVE_UINT8, H5T_STD_U8LE)
PCLSCOPE_STORE_TYPE(std::uint16_t, H5T_NATIVE_UINT16, H5T_STD_U16LE)
PCLSCOPE_STORE_TYPE(std::int32_t, H5T_NATIVE_INT32, H5T_STD_I32LE)
PCLSCOPE_STORE_TYPE(std::uint32_t, H5T_NATIVE_UINT32, H5T_STD_U32LE)
PCLSCOPE_STORE_TYPE(std::int64_t, H5T_NATIVE_INT64, H5T_STD_I64LE)
PCLSCOPE_STORE_TYPE(std::uint64_t, H5T_NATIVE_UINT64, H5T_STD_U64LE)
PCLSCOPE_STORE_TYPE(float, H5T_NATIVE_FLOAT, H5T_IEEE_F32LE)
PCLSCOPE_STORE_TYPE(double, H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE)
#undef PCLSCOPE_STORE_TYPE

// Fixed length, padded with NUL, UTF-8.
Hdf5Handle text_type(std::size_t bytes);

// Scalar attributes. False on failure; read_* leave `value` alone then.
bool create_attribute(hid_t object, const char* name, hid_t type, hid_t memory, const void* value);
bool write_attribute(hid_t object, const char* name, hid_t memory, const void* value);
bool read_attribute(hid_t object, const char* name, hid_t memory, void* value);
// One-dimensional ones: all values in one piece, so that they change together.
bool create_list(hid_t object, const char* name, std::span<const std::uint64_t> values);
bool write_list(hid_t object, const char* name, std::span<const std::uint64_t> values);
bool read_list(hid_t object, const char* name, std::span<std::uint64_t> values);  // exactly that many
bool create_text(hid_t object, const char* name, const std::string& value, std::size_t capacity);
bool write_text(hid_t object, const char* name, const std::string& value);
bool read_text(hid_t object, const char* name, std::string& value);

template <class T>
bool create_number(hid_t object, const char* name, const T& value) {
  return create_attribute(object, name, file_type<T>(), memory_type<T>(), &value);
}
template <class T>
bool write_number(hid_t object, const char* name, const T& value) {
  return write_attribute(object, name, memory_type<T>(), &value);
}
template <class T>
bool read_number(hid_t object, const char* name, T& value) {
  return read_attribute(object, name, memory_type<T>(), &value);
}

// Of one that an older version may not have: false only when it is there and cannot be read.
template <class T>
bool read_number_if_any(hid_t object, const char* name, T& value) {
  return read_number(object, name, value) || H5Aexists(object, name) == 0;
}

}  // namespace pclscope::store
