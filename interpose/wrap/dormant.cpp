#include "interpose/wrap/dormant.hpp"

namespace pclscope {

void keep_request(Recorder& r, MPI_Request request, const TrackedRequest& what) {
  CallScope call(r, what.function, what.site, what.comm_id, what.peer, what.tag);
  track_nothing(call, request);
  TrackedRequest* entry = find_request(request);
  if (entry == nullptr) entry = add_request(request);
  if (entry != nullptr) {
    *entry = what;
  } else {
    r.accounts().life_give_up();
    finished(what);
  }
}

void end_otherwise(Recorder& r, Function function, Caller caller, TrackedRequest& done, const MPI_Status& status,
                   int error) {
  CallScope call(r, function, caller, done.comm_id, done.peer, done.tag);
  call.returned();
  if (error == MPI_SUCCESS) {
    record_completed(call, done, status);
  } else {
    record_failed(call, done, status, error);
  }
  withdraw(done);
}

}  // namespace pclscope
