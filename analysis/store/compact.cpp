// A closed file holds space that nothing refers to: tails, the other summary. A small one is worth a copy without it.
#include <unistd.h>

#include <cstdio>

#include "analysis/store/driver.hpp"
#include "analysis/store/reader.hpp"
#include "analysis/store/target.hpp"
#include "analysis/store/writer_state.hpp"

namespace pclscope::store {

bool Writer::State::copy_to(State& to) const {
  const auto reader = Reader::open(target);
  if (!reader || !(*reader)->closed()) return false;
  const auto source = CommitFile::open(target);
  if (!source) return false;
  const Hdf5Handle access = access_through(*source);
  const Hdf5Handle from = own_file(H5Fopen(target.c_str(), H5F_ACC_RDONLY, access.get()));
  std::string created;
  bool good = from && read_text(from.get(), "created", created) && write_text(to.root.get(), "created", created) &&
              to.messages.copy(from.get(), "messages", messages) &&
              to.collectives.copy(from.get(), "collectives", collectives) && to.calls.copy(from.get(), "calls", calls);
  const auto all_windows = (*reader)->windows();
  if (!good || !all_windows) return false;
  to.stages = WindowStages(~std::uint64_t{0});  // they have been merged already
  for (const Window& window : *all_windows) good = good && to.append(window);
  to.windows_not_stored = windows_not_stored;
  to.calls_shed = calls_shed;
  to.sites.add((*reader)->summary().sites);
  return good && to.summarize((*reader)->summary()) && to.finish();
}

bool Writer::State::compact_into(const std::string& draft) {
  State to;
  to.path = path;
  to.target = target;
  to.options = options;
  if (!(to.file = CommitFile::create(draft))) return false;
  const bool good = to.create_file(draft) && copy_to(to);
  if (!good) to.broken = Error{ErrorCode::io, "no copy"};  // its destructor writes nothing
  return good && to.file->end() < file->end();
}

void Writer::State::compact() {
  if (file->end() >= options.compact_below_bytes || !messages.all_in_chunks() || !collectives.all_in_chunks() ||
      !calls.all_in_chunks())
    return;
  const std::string draft = draft_name(target);
  if (!compact_into(draft) || std::rename(draft.c_str(), target.c_str()) != 0) ::unlink(draft.c_str());
  H5Eclear2(H5E_DEFAULT);
}

}  // namespace pclscope::store
