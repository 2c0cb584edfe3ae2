#include <algorithm>
#include <map>
#include <utility>

#include "analysis/store/reader.hpp"
#include "viewer/session/session.hpp"
#include "viewer/session/stored_dag.hpp"

namespace pclscope::session {
namespace {

constexpr std::uint64_t batch_rows = 1u << 16;

// Rows of these ranges that are `inside`, in batches, until `visit` returns false.
template <class Read, class Inside, class Visit>
Status read_those(const std::vector<store::RowRange>& ranges, Read&& read, Inside&& inside, Visit&& visit) {
  for (const store::RowRange& range : ranges) {
    for (std::uint64_t done = 0; done < range.count; done += batch_rows) {
      auto rows = read(range.first + done, std::min(batch_rows, range.count - done));
      if (!rows) return rows.error();
      std::erase_if(*rows, [&](const auto& row) { return !inside(row); });
      if (!visit(*rows)) return {};
    }
  }
  return {};
}

class StoredSession final : public Session {
 public:
  explicit StoredSession(std::unique_ptr<store::Reader> reader) : reader_(std::move(reader)) {}

  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds) override {
    if (given_) return std::optional<Snapshot>();
    given_ = true;
    return std::optional<Snapshot>(reader_->summary());
  }
  Phase phase() override { return Phase::finished; }
  bool live() const override { return false; }
  bool complete() const override { return reader_->complete(); }
  bool closed() const override { return reader_->closed(); }

  Status messages(const TimeSpan& span, const std::function<bool(std::span<const Message>)>& visit) override {
    const auto inside = [&](const Message& m) {
      return span.has(m.send_begin) || (span.or_end && span.has(m.recv_end));
    };
    return read_those(
        reader_->messages_within(span.begin_ns, span.end_ns),
        [&](std::uint64_t first, std::uint64_t count) { return reader_->messages(first, count); }, inside, visit);
  }
  std::uint64_t message_count() const override { return reader_->message_count(); }
  std::uint64_t messages_not_stored() const override { return reader_->messages_not_stored(); }
  std::uint64_t collectives_not_stored() const override { return reader_->collectives_not_stored(); }
  Result<std::vector<Window>> windows() override { return reader_->windows(); }
  Status collectives(const TimeSpan& span, const std::function<bool(std::span<const CollectiveCall>)>& visit) override {
    const auto inside = [&](const CollectiveCall& c) { return c.end >= span.begin_ns && c.begin < span.end_ns; };
    return read_those(
        reader_->collectives_within(span.begin_ns, span.end_ns),
        [&](std::uint64_t first, std::uint64_t count) { return reader_->collectives(first, count); }, inside, visit);
  }
  CallCount mpi_call_count() const override {
    return {reader_->has_calls(), reader_->call_count(), reader_->calls_not_stored(), reader_->calls_shed()};
  }
  Status mpi_calls(const TimeSpan& span, const std::function<bool(std::span<const MpiCall>)>& visit) override {
    const auto inside = [&](const MpiCall& c) { return c.end >= span.begin_ns && c.begin < span.end_ns; };
    return read_those(
        reader_->calls_within(span.begin_ns, span.end_ns),
        [&](std::uint64_t first, std::uint64_t count) { return reader_->calls(first, count); }, inside, visit);
  }
  Result<Dag> dag(const DagQuestion& question) override { return stored_dag(*this, reader_->summary(), question); }
  Result<std::vector<PairTraffic>> traffic() override;

 private:
  std::unique_ptr<store::Reader> reader_;
  bool given_ = false;
};

// A summary that had no room for it, or an older file: what its messages say.
Result<std::vector<PairTraffic>> StoredSession::traffic() {
  if (!reader_->summary().traffic.empty()) return reader_->summary().traffic;
  std::map<std::pair<std::int32_t, std::int32_t>, PairTraffic> pairs;
  const Status read = messages({}, [&](std::span<const Message> batch) {
    for (const Message& m : batch) {
      PairTraffic& pair = pairs[{m.source, m.destination}];
      ++pair.messages;
      pair.bytes += m.bytes;
    }
    return true;
  });
  if (!read) return read.error();
  std::vector<PairTraffic> list;
  for (const auto& [ranks, sums] : pairs) list.push_back({ranks.first, ranks.second, sums.messages, sums.bytes});
  return list;
}

}  // namespace

Result<std::unique_ptr<Session>> open_stored(const std::string& path) {
  auto reader = store::Reader::open(path);
  if (!reader) return reader.error();
  return std::unique_ptr<Session>(std::make_unique<StoredSession>(std::move(*reader)));
}

}  // namespace pclscope::session
