#include "analysis/store/writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "analysis/store/blank.hpp"
#include "analysis/store/target.hpp"
#include "analysis/store/writer_state.hpp"

namespace pclscope::store {

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Writer::~Writer() {
  if (!state_->closed && !state_->broken) (void)close();
}

Result<std::unique_ptr<Writer>> Writer::create(const std::string& path, const WriterOptions& options) {
  silence_hdf5();
  if (options.budget_bytes != 0 && options.budget_bytes < smallest_budget_bytes) {
    return Error{ErrorCode::bad_argument, "cannot write " + path + " within " + std::to_string(options.budget_bytes) +
                                              " bytes; give it a budget of at least " +
                                              std::to_string(smallest_budget_bytes)};
  }
  const auto target = resolve_target(path);
  if (!target) return target.error();
  auto state = std::make_unique<State>();
  state->path = path;
  state->target = *target;
  state->options = options;
  state->asked_budget_bytes = options.budget_bytes;
  const std::string draft = draft_name(*target);
  if (!(state->file = CommitFile::create(draft))) return system_error(path, errno);
  state->heeds_disk = options.budget_bytes != 0;
  if (state->heeds_disk)  // shares are of what there is
    state->options.budget_bytes = std::clamp(state->file->disk_left(), smallest_budget_bytes, options.budget_bytes);
  const Status made = state->check(state->create_file(draft));
  if (made && std::rename(draft.c_str(), target->c_str()) == 0) {
    return std::unique_ptr<Writer>(new Writer(std::move(state)));
  }
  const int error = errno;
  ::unlink(draft.c_str());
  return made ? system_error(path, error) : made.error();
}

Status Writer::make_blank(const std::string& path) {
  silence_hdf5();
  State state;
  state.path = path;
  state.options.rows_per_chunk = blank_rows_per_chunk;
  if (!(state.file = CommitFile::create(path))) return system_error(path, errno);
  const bool good =
      state.create_file_from({}, path) && H5Fflush(state.root.get(), H5F_SCOPE_GLOBAL) >= 0 && state.file->commit();
  const Status made = state.check(good);
  if (made) state.file->discard();  // and nothing of what closing it would write
  return made;
}

Status Writer::append(std::span<const Message> messages) {
  const Status ready = state_->ready();
  return ready ? state_->check(state_->append(messages)) : ready;
}

Status Writer::append(std::span<const CollectiveCall> calls) {
  const Status ready = state_->ready();
  return ready ? state_->check(state_->append(calls)) : ready;
}

Status Writer::append(std::span<const MpiCall> calls) {
  const Status ready = state_->ready();
  return ready ? state_->check(state_->append(calls)) : ready;
}

Status Writer::leave_out_calls(std::uint64_t all, std::uint64_t shed) {
  State& s = *state_;
  const Status ready = s.ready();
  if (!ready || all < s.calls_left_out) return ready;
  s.calls.count_not_stored(all - s.calls_left_out);
  s.calls_left_out = all;
  s.calls_shed = shed;
  return ready;
}

Status Writer::append(const Window& window) {
  const Status ready = state_->ready();
  return ready ? state_->check(state_->append(window)) : ready;
}

Status Writer::append(std::span<const CallSite> sites) {
  const Status ready = state_->ready();
  if (ready) state_->sites.add(sites);
  return ready;
}

Status Writer::summarize(const Snapshot& snapshot) {
  const Status ready = state_->ready();
  return ready ? state_->check(state_->summarize(snapshot)) : ready;
}

Status Writer::flush() {
  const Status ready = state_->ready();
  return ready ? state_->check(state_->flush()) : ready;
}

Status Writer::close() {
  State& s = *state_;
  if (s.broken) return *s.broken;
  if (s.closed) return {};
  const Status closed = s.check(s.finish());
  if (closed) s.compact();
  return closed;
}

bool Writer::lacks_disk() const {
  const State& s = *state_;
  return s.heeds_disk && s.messages.not_stored() + s.windows_not_stored > 0 &&
         s.file->disk_left() < s.asked_budget_bytes - std::min(s.asked_budget_bytes, s.file->end());
}
std::uint64_t Writer::file_bytes() const { return state_->file->end(); }
std::uint64_t Writer::messages_not_stored() const { return state_->messages.not_stored(); }
std::uint64_t Writer::collectives_not_stored() const { return state_->collectives.not_stored(); }

}  // namespace pclscope::store
