// The requests that a Wait or Test is given, kept over the call: MPI overwrites the handles, and under
// MPI_THREAD_MULTIPLE a completed request's handle, and with it the entry, may be another thread's when the call
// returns. Then the entries are emptied before the call, and those of requests that did not complete put back.
#pragma once

#include "interpose/recorder/recorder.hpp"
#include "interpose/recorder/requests.hpp"

namespace pclscope {

// nullptr: not tracked, or not in flight.
PCLSCOPE_INLINE TrackedRequest* flying_request(MPI_Request request) {
  if (request == handles.request_null) return nullptr;
  TrackedRequest* entry = find_request(request);
  return entry != nullptr && in_flight(*entry) ? entry : nullptr;
}

struct Kept {
  TrackedRequest* entry;

  PCLSCOPE_INLINE void look_up(MPI_Request request) { entry = flying_request(request); }
};

inline constexpr int few_requests = 64;  // for which there is room on the stack

// For the segment header: the send, receive or collective that is waited for.
inline std::uint64_t awaited_of(const TrackedRequest& r) {
  if (r.unrecorded) {
    const std::uint64_t number =
        is_receive(r.kind) && !r.asleep ? Unrecorded::number_now(outstanding(r)) : OutstandingReceive::unnumbered;
    return number != OutstandingReceive::unnumbered ? record::awaited_receive | record::number_of(number) : 0;
  }
  if (is_receive(r.kind)) return record::awaited_receive | record::number_of(r.ordinal);
  if (is_collective(r.kind)) return record::awaited_collective_of(r.ordinal, static_cast<std::uint16_t>(r.function));
  return is_send(r.kind) ? record::awaited_send | record::number_of(r.ordinal) : 0;
}

// The one request of a Wait or Test.
class KeptRequest {
 public:
  PCLSCOPE_INLINE explicit KeptRequest(MPI_Request request) {
    kept_.look_up(request);
    if (process.multiple && kept_.entry != nullptr) [[unlikely]] {
      copy_ = *kept_.entry;
      if (!is_persistent(copy_.kind)) kept_.entry->kind = RequestKind::none;
    }
  }
  PCLSCOPE_INLINE ~KeptRequest() {
    if (process.multiple && kept_.entry != nullptr && !is_persistent(copy_.kind)) [[unlikely]]
      kept_.entry->kind = copy_.kind;
  }
  KeptRequest(const KeptRequest&) = delete;
  KeptRequest& operator=(const KeptRequest&) = delete;

  const TrackedRequest* what() const { return kept_.entry == nullptr || !process.multiple ? kept_.entry : &copy_; }

  // After the call: it completed, and `record` is called with what it was. Not when nothing is known of it.
  template <class Record>
  PCLSCOPE_INLINE void completed(Record record) {
    TrackedRequest* entry = kept_.entry;
    if (entry == nullptr) return;
    kept_.entry = nullptr;
    if (!process.multiple) [[likely]] {
      record(*entry);
      withdraw(*entry);
    } else {
      if (is_persistent(copy_.kind)) withdraw(*entry);  // stays the owner's
      record(copy_);
    }
  }

 private:
  Kept kept_;
  TrackedRequest copy_;
};

// Those of the calls with arrays, and room for statuses. Up to 64 on the stack, beyond in memory that the recorder
// keeps. Without memory: ready() is false.
class KeptRequests {
 public:
  KeptRequests(Recorder& r, int count, const MPI_Request* requests, bool with_statuses);
  ~KeptRequests() {
    if (process.multiple || memory_ != nullptr) [[unlikely]]
      put_back();
  }
  KeptRequests(const KeptRequests&) = delete;
  KeptRequests& operator=(const KeptRequests&) = delete;

  bool ready() const { return ready_; }
  std::uint64_t used() const { return used_; }  // handles that are not MPI_REQUEST_NULL
  MPI_Status* statuses() { return statuses_; }

  // Before the call: tells the segment header what it waits for.
  void await();

  // Has the call completed a receive so far; or, if it completes all, does it?
  void ended_receive() { receives_ = true; }
  bool with_receives(bool completes_all);

  // After the call: as KeptRequest::completed.
  template <class Record>
  PCLSCOPE_INLINE void completed(int index, Record record) {
    const auto i = static_cast<std::size_t>(index);
    if (i >= looked_up_) [[unlikely]] {
      Kept late;
      late.look_up(requests_[i]);
      if (late.entry != nullptr) end(*late.entry, record);
      return;
    }
    TrackedRequest* entry = kept_[i].entry;
    if (entry == nullptr) return;
    kept_[i].entry = nullptr;
    if (!process.multiple) [[likely]] {
      end(*entry, record);
    } else {
      if (is_persistent(copies_[i].kind)) withdraw(*entry);
      record(copies_[i]);
    }
  }

 private:
  static constexpr std::size_t limit = few_requests;

  template <class Record>
  PCLSCOPE_INLINE static void end(TrackedRequest& entry, Record record) {
    record(entry);
    withdraw(entry);
  }
  bool borrow(bool with_statuses);
  void take_out();
  void put_back();

  Recorder& recorder_;
  const std::size_t count_;
  std::size_t looked_up_ = 0;  // of the first so many the entries are known before the call
  MPI_Request* requests_ = local_requests_;
  MPI_Status* statuses_ = local_statuses_;
  Kept* kept_ = local_kept_;
  TrackedRequest* copies_ = reinterpret_cast<TrackedRequest*>(local_copies_);
  void* memory_ = nullptr;
  std::uint64_t used_ = 0;
  bool ready_ = false;
  bool receives_ = false;
  MPI_Request local_requests_[limit];
  MPI_Status local_statuses_[limit];
  Kept local_kept_[limit];
  alignas(TrackedRequest) unsigned char local_copies_[limit * sizeof(TrackedRequest)];
};

}  // namespace pclscope
