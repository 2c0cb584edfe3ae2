#include "tests/explore/simulated_mpi.hpp"

#include <algorithm>
#include <cstring>

#include "tests/explore/fake_handles.hpp"
#include "tests/explore/scheduler.hpp"

namespace explore {

SimulatedMpi& SimulatedMpi::the() {
  static SimulatedMpi mpi;
  return mpi;
}

void SimulatedMpi::clear(int ranks) {
  ranks_.assign(static_cast<std::size_t>(ranks), {});
  posted_.assign(1, {});  // number 0 is MPI_REQUEST_NULL
  next_serial_ = 1;
}

bool SimulatedMpi::fits(const Posted& p, const Arrived& m) {
  return (p.source == MPI_ANY_SOURCE || p.source == m.source) && (p.tag == MPI_ANY_TAG || p.tag == m.tag);
}

void SimulatedMpi::send(int serial, int destination, int tag) {
  Rank& to = ranks_[static_cast<std::size_t>(destination)];
  Scheduler::the().before(&to, true);
  const Arrived message{caller(), tag, serial};
  for (auto it = to.waiting.begin(); it != to.waiting.end(); ++it) {
    if (!fits(posted_[*it], message)) continue;
    posted_[*it].done = true;
    posted_[*it].message = message;
    to.waiting.erase(it);
    return;
  }
  to.unexpected.push_back(message);
}

std::uintptr_t SimulatedMpi::post(int source, int tag) {
  Rank& here = ranks_[static_cast<std::size_t>(caller())];
  Scheduler::the().before(&here, true);
  const std::uintptr_t number = posted_.size();
  posted_.push_back({source, tag, false, {}});
  for (auto it = here.unexpected.begin(); it != here.unexpected.end(); ++it) {
    if (!fits(posted_[number], *it)) continue;
    posted_[number].done = true;
    posted_[number].message = *it;
    here.unexpected.erase(it);
    return number;
  }
  here.waiting.push_back(number);
  return number;
}

bool SimulatedMpi::finished(std::uintptr_t request, MPI_Status* status) {
  Scheduler::the().before(&ranks_[static_cast<std::size_t>(caller())], false);
  const Posted& p = posted_[request];
  Scheduler::the().saw(p.done ? static_cast<std::uint64_t>(p.message.serial) : 0);
  if (p.done && status != MPI_STATUS_IGNORE) fill(*status, p.message.source, p.message.tag, p.message.serial);
  return p.done;
}

bool SimulatedMpi::take(int source, int tag, MPI_Status* status, std::uintptr_t& message) {
  Rank& here = ranks_[static_cast<std::size_t>(caller())];
  Scheduler::the().before(&here, true);
  const Posted pattern{source, tag, false, {}};
  const auto it =
      std::find_if(here.unexpected.begin(), here.unexpected.end(), [&](const Arrived& m) { return fits(pattern, m); });
  Scheduler::the().saw(it != here.unexpected.end() ? static_cast<std::uint64_t>(it->serial) : 0);
  if (it == here.unexpected.end()) return false;
  message = posted_.size();
  posted_.push_back({source, tag, true, *it});
  if (status != MPI_STATUS_IGNORE) fill(*status, it->source, it->tag, it->serial);
  here.unexpected.erase(it);
  return true;
}

void fill(MPI_Status& status, int source, int tag, int bytes) {
  std::memset(&status, 0, sizeof status);
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
#ifdef OPEN_MPI
  status._ucount = static_cast<std::size_t>(bytes);
#else
  status.count_lo = bytes;
#endif
}

namespace {

SimulatedMpi& mpi() { return SimulatedMpi::the(); }

std::uintptr_t number_of(MPI_Request request) {
  std::uintptr_t number = 0;
  while (request_of(number) != request) ++number;
  return number;
}
std::uintptr_t number_of_message(MPI_Message message) {
  std::uintptr_t number = 0;
  while (message_of(number) != message) ++number;
  return number;
}

int send_at_once(const void*, int count, MPI_Datatype, int destination, int tag, MPI_Comm) {
  mpi().send(count, destination, tag);
  return MPI_SUCCESS;
}

void wait_for(std::uintptr_t number, MPI_Status* status) {
  while (!mpi().finished(number, status)) Scheduler::the().blocked(false);
}

int receive(void*, int, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Status* status) {
  wait_for(mpi().post(source, tag), status);
  return MPI_SUCCESS;
}

int post_receive(void*, int, MPI_Datatype, int source, int tag, MPI_Comm, MPI_Request* request) {
  *request = request_of(mpi().post(source, tag));
  return MPI_SUCCESS;
}

int wait(MPI_Request* request, MPI_Status* status) {
  wait_for(number_of(*request), status);
  *request = request_of(0);
  return MPI_SUCCESS;
}

int matched_probe(int source, int tag, MPI_Comm, MPI_Message* message, MPI_Status* status) {
  std::uintptr_t number = 0;
  while (!mpi().take(source, tag, status, number)) Scheduler::the().blocked(false);
  *message = message_of(number);
  return MPI_SUCCESS;
}

int matched_receive(void*, int, MPI_Datatype, MPI_Message* message, MPI_Status* status) {
  wait_for(number_of_message(*message), status);
  return MPI_SUCCESS;
}

int type_size(MPI_Datatype, MPI_Count* size) {
  *size = 1;
  return MPI_SUCCESS;
}

int group(MPI_Comm, MPI_Group*) { return MPI_SUCCESS; }
int control(int, ...) { return MPI_SUCCESS; }

}  // namespace

void* SimulatedMpi::function(const char* name) {
  struct Entry {
    const char* name;
    void* function;
  };
  const Entry entries[] = {{"MPI_Send", reinterpret_cast<void*>(&send_at_once)},
                           {"MPI_Recv", reinterpret_cast<void*>(&receive)},
                           {"MPI_Irecv", reinterpret_cast<void*>(&post_receive)},
                           {"MPI_Wait", reinterpret_cast<void*>(&wait)},
                           {"MPI_Mprobe", reinterpret_cast<void*>(&matched_probe)},
                           {"MPI_Mrecv", reinterpret_cast<void*>(&matched_receive)},
                           {"MPI_Type_size_x", reinterpret_cast<void*>(&type_size)},
                           {"MPI_Comm_group", reinterpret_cast<void*>(&group)},
                           {"MPI_Pcontrol", reinterpret_cast<void*>(&control)}};
  for (const Entry& entry : entries) {
    if (std::strcmp(entry.name, name) == 0) return entry.function;
  }
  return nullptr;
}

}  // namespace explore
