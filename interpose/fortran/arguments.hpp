// The arguments of a Fortran call, one class per kind. All come by reference. Each class answers:
//   c()              the value as the templates of wrap_*.hpp want it
//   use(value)       what the template hands on to MPI in this place: a translated communicator, a status of its own
//   fortran()        what the Fortran routine gets: the program's own pointer wherever possible, so that sentinels,
//                    descriptors and everything we know nothing of survive
//   returned(result) after the routine: brings what it wrote into C form
#pragma once

#include <stdlib.h>
#include <string.h>

#include <cstddef>

#include "interpose/fortran/peculiarities.hpp"
#include "interpose/library/fortran_handles.hpp"
#include "interpose/library/fortran_sentinels.hpp"

namespace pclscope::fortran {

// Handed on, never looked at: texts, functions, MPI_ARGV_NULL, attribute values.
struct Opaque {
  void* pointer;
  void* c() const { return pointer; }
  template <class Value>
  void use(const Value&) {}
  void* fortran() { return pointer; }
  void returned(int) {}
};

// A choice buffer.
struct Buffer : Opaque {
  void* c() const { return is_one_of(pointer, sentinels.in_place) ? const_cast<void*>(MPI_IN_PLACE) : pointer; }
};

// A choice buffer with a descriptor (`type(*), dimension(..)`), which begins with the address of the data.
struct DescribedBuffer : Opaque {
  void* c() const { return Buffer{*static_cast<void**>(pointer)}.c(); }
};

// Either, for code that all bindings share.
struct AnyBuffer : Opaque {
  AnyBuffer(void* given, bool is_described) : Opaque{given}, described(is_described) {}
  bool described;
  void* c() const { return described ? DescribedBuffer{{pointer}}.c() : Buffer{{pointer}}.c(); }
};

// An integer that goes in.
template <class Integer>
struct Value : Opaque {
  Integer c() const { return *static_cast<const Integer*>(pointer); }
};

// Integers and logicals that come out, and arrays.
template <class Integer>
struct Integers : Opaque {
  Integer* c() const { return static_cast<Integer*>(pointer); }
};

template <class Handle>
struct HandleValue : Opaque {
  Handle c() const { return from_fortran<Handle>(*static_cast<const MPI_Fint*>(pointer)); }
};

// A communicator that goes in: the routine gets another integer when the template wants another communicator.
class CommValue {
 public:
  explicit CommValue(void* pointer)
      : program_(static_cast<MPI_Fint*>(pointer)), chosen_(program_), given_(from_fortran<MPI_Comm>(*program_)) {}
  MPI_Comm c() const { return given_; }
  void use(MPI_Comm comm) {
    chosen_ = program_;
    if (comm == given_) return;
    other_ = to_fortran(comm);
    chosen_ = &other_;
  }
  void* fortran() { return chosen_; }
  void returned(int) {}

 private:
  MPI_Fint* program_;
  MPI_Fint* chosen_;
  MPI_Comm given_;
  MPI_Fint other_ = 0;
};

// A handle that the routine makes.
template <class Handle>
struct HandleMade : Opaque {
  explicit HandleMade(void* pointer, Handle null = {}) : Opaque{pointer}, handle(null) {}
  Handle handle;
  Handle* c() { return &handle; }
  void returned(int result) {
    if (result == MPI_SUCCESS) handle = from_fortran<Handle>(*static_cast<const MPI_Fint*>(pointer));
  }
};

// A handle that the routine takes and may change.
template <class Handle>
struct HandleChanged : Opaque {
  explicit HandleChanged(void* pointer)
      : Opaque{pointer}, before(*static_cast<MPI_Fint*>(pointer)), handle(from_fortran<Handle>(before)) {}
  MPI_Fint before;
  Handle handle;
  Handle* c() { return &handle; }
  void returned(int) {
    const MPI_Fint now = *static_cast<const MPI_Fint*>(pointer);
    if (now != before) handle = from_fortran<Handle>(now);
  }
};

// The communicator of MPI_Comm_idup, which MPI writes some time later: bit 0 of the address says that there will be a
// Fortran integer (completion.cpp).
struct CommLater : Opaque {
  MPI_Comm* c() const { return reinterpret_cast<MPI_Comm*>(reinterpret_cast<std::uintptr_t>(pointer) | 1); }
};

// An array of requests. Where handles are not integers they are copied, on the stack or, in case of many, in memory
// that is got for this call: small beside what MPI does with so many.
#ifdef OPEN_MPI
class RequestArray {
 public:
  RequestArray(void* pointer, const void* count)
      : integers_(static_cast<MPI_Fint*>(pointer)), count_(*static_cast<const MPI_Fint*>(count)) {
    if (count_ > limit)
      requests_ = static_cast<MPI_Request*>(malloc(static_cast<std::size_t>(count_) * sizeof *requests_));
    if (requests_ == nullptr) return;
    for (int i = 0; i < count_; ++i) requests_[i] = from_fortran<MPI_Request>(integers_[i]);
  }
  ~RequestArray() {
    if (requests_ != local_) free(requests_);
  }
  RequestArray(const RequestArray&) = delete;
  RequestArray& operator=(const RequestArray&) = delete;

  bool ready() const { return requests_ != nullptr; }
  MPI_Request* c() { return requests_; }
  template <class Any>
  void use(const Any&) {}
  void* fortran() { return integers_; }
  void returned(int result) {  // the templates look at them again only then
    if (result == MPI_SUCCESS || requests_ == nullptr) return;
    for (int i = 0; i < count_; ++i) requests_[i] = from_fortran<MPI_Request>(integers_[i]);
  }

 private:
  static constexpr int limit = 64;
  MPI_Fint* integers_;
  int count_;
  MPI_Request local_[limit];
  MPI_Request* requests_ = local_;
};
#else
struct RequestArray : Opaque {
  RequestArray(void* pointer, const void*) : Opaque{pointer} {}
  bool ready() const { return true; }
  MPI_Request* c() const { return static_cast<MPI_Request*>(pointer); }
};
#endif

// An array of datatypes, converted one by one when bytes are counted.
#ifdef OPEN_MPI
struct Datatypes {
  const MPI_Fint* integers;
  template <class Index>
  MPI_Datatype operator[](Index i) const {
    return from_fortran<MPI_Datatype>(integers[i]);
  }
};
struct DatatypeArray : Opaque {
  Datatypes c() const { return {static_cast<const MPI_Fint*>(pointer)}; }
};
#else
using DatatypeArray = Integers<const MPI_Datatype>;
#endif

// A status that the program may ignore and the template may have replaced.
struct Status {
  void* pointer;
  MPI_Status* c() const {
    return is_one_of(pointer, sentinels.status_ignore) ? MPI_STATUS_IGNORE : static_cast<MPI_Status*>(pointer);
  }
  void use(MPI_Status* status) {
    if (status != MPI_STATUS_IGNORE) pointer = status;
  }
  void* fortran() { return pointer; }
  void returned(int) {}
};

// An array of them. After a failure Open MPI's routines bring nothing back, no status, no handle, no count: the
// template then sees an error of unknown kind in each, for as long as it looks.
class Statuses {
 public:
  Statuses(void* pointer, const void* count)
      : program_(pointer), pointer_(pointer), count_(*static_cast<const MPI_Fint*>(count)) {}
  ~Statuses() {
    if (saved_ != nullptr) memcpy(program_, saved_, bytes());
    free(saved_);
  }
  Statuses(const Statuses&) = delete;
  Statuses& operator=(const Statuses&) = delete;

  MPI_Status* c() const { return ignored() ? MPI_STATUSES_IGNORE : static_cast<MPI_Status*>(pointer_); }
  void use(MPI_Status* statuses) {
    if (statuses != MPI_STATUSES_IGNORE) pointer_ = statuses;
  }
  void* fortran() { return pointer_; }
  void returned(int result) {
    if (!arrays_stay_after_failure || result == MPI_SUCCESS || ignored() || count_ <= 0) return;
    if (pointer_ == program_) {
      saved_ = malloc(bytes());
      if (saved_ == nullptr) return;
      memcpy(saved_, program_, bytes());
    }
    for (int i = 0; i < count_; ++i) static_cast<MPI_Status*>(pointer_)[i].MPI_ERROR = MPI_ERR_OTHER;
  }

 private:
  bool ignored() const { return is_one_of(pointer_, sentinels.statuses_ignore); }
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(MPI_Status); }

  void* program_;
  void* pointer_;
  int count_;
  void* saved_ = nullptr;
};

inline bool brought_back(int result) {
  return result == MPI_SUCCESS || (!arrays_stay_after_failure && result == MPI_ERR_IN_STATUS);
}

// The index of MPI_Waitany and MPI_Testany. Fortran counts from 1 (`origin`).
struct Index : Opaque {
  Index(void* pointer, int origin) : Opaque{pointer}, first(origin) {}
  int first;
  int index = MPI_UNDEFINED;
  int* c() { return &index; }
  void returned(int) {
    const MPI_Fint given = *static_cast<const MPI_Fint*>(pointer);
    index = given >= first ? given - first : MPI_UNDEFINED;
  }
};

// How many indices MPI_Waitsome and MPI_Testsome give.
struct IndexCount : Opaque {
  explicit IndexCount(void* pointer) : Opaque{pointer} {}
  int count = 0;
  int* c() { return &count; }
  void returned(int result) { count = brought_back(result) ? *static_cast<const MPI_Fint*>(pointer) : 0; }
};

// The indices: from 0 while the template looks at them, in the program's own array.
class Indices {
 public:
  Indices(void* pointer, const void* capacity, const void* count, int origin)
      : indices_(static_cast<MPI_Fint*>(pointer)),
        capacity_(*static_cast<const MPI_Fint*>(capacity)),
        count_(static_cast<const MPI_Fint*>(count)),
        origin_(origin) {}
  ~Indices() {
    for (int i = 0; i < changed_; ++i) indices_[i] += origin_;
  }
  Indices(const Indices&) = delete;
  Indices& operator=(const Indices&) = delete;

  int* c() { return indices_; }
  template <class Any>
  void use(const Any&) {}
  void* fortran() { return indices_; }
  void returned(int result) {
    if (!brought_back(result) || *count_ <= 0 || *count_ > capacity_) return;
    changed_ = *count_;
    for (int i = 0; i < changed_; ++i) indices_[i] -= origin_;
  }

 private:
  MPI_Fint* indices_;
  int capacity_;
  const MPI_Fint* count_;
  int origin_;
  int changed_ = 0;
};

}  // namespace pclscope::fortran
