#include "tests/explore/reader.hpp"

#include <stdexcept>

#include "analysis/aggregator/output.hpp"
#include "analysis/aggregator/rings.hpp"
#include "analysis/collect/dormant.hpp"
#include "tests/explore/scheduler.hpp"

namespace pclscope::aggregator {
void complain(const std::string& line) { throw std::runtime_error(line); }
}  // namespace pclscope::aggregator

namespace explore {
namespace {

using namespace pclscope;
using aggregator::Rings;

void show(std::int32_t rank, const record::Event& e) {
  const auto number = [](auto value) { return static_cast<unsigned long long>(value); };
  std::printf("  rank %d: kind %u function %u comm %llx peer %d tag %d bytes %llu ordinal %llu flags %x %llu to %llu\n",
              rank, static_cast<unsigned>(e.kind), e.function, number(e.comm), e.peer, e.tag, number(e.bytes),
              number(e.ordinal), e.flags, number(e.begin), number(e.end));
}

aggregator::Options options_of(const World& world) {
  aggregator::Options options;
  options.token = world.token();
  options.ranks = world.size();
  return options;
}

class Reader {
 public:
  Reader(World& world, const ReaderKind& kind, Read& read)
      : kind_(kind),
        read_(read),
        options_(options_of(world)),
        rings_(options_, [this] { return expected(); }),
        matcher_(world.size(), [this](std::span<const Message> messages) {
          read_.messages.insert(read_.messages.end(), messages.begin(), messages.end());
        }) {
    auto board = collect::BoardFile::open_existing(world.token());
    if (!board) throw std::runtime_error(board.error().message);
    board_ = std::move(*board);
    for (std::int32_t r = 0; r < world.size(); ++r) matcher_.set_node(r, 0);
    for (const int r : kind.threads) matcher_.set_threads(r, true);
  }

  // As Worker::run(), without analysis and output.
  void run(const std::function<bool()>& over, const std::function<bool()>& leave) {
    begin();
    for (bool end = false; !end;) {
      end = over() || leave();
      if (round() == 0 && !end) Scheduler::the().blocked(true);
    }
    if (session_ != 0) collect::end_session(*board_, session_);
    for (bool last = false; !last;) {
      last = over() || (session_ != 0 && collect::progress(*board_).recording == 0);
      if (round() > 0) last = false;
      if (!last) Scheduler::the().blocked(true);
    }
    round();
    matcher_.finish();
    read_.counts = matcher_.counts();
    read_.finished = true;
    if (session_ != 0) collect::leave_session(*board_, kind_.pid);
  }

 private:
  void begin() {
    if (!kind_.attaches) {
      board_->board().aggregator.store(kind_.pid);
      return;
    }
    const auto session = collect::begin_session(*board_, kind_.pid);
    if (!session) throw std::runtime_error(session.error().message);
    session_ = *session;
    rings_.collector().set_session(session_);
  }

  std::size_t expected() {
    return kind_.attaches ? collect::progress(*board_).living : static_cast<std::size_t>(options_.ranks);
  }

  // As Worker::read().
  std::uint64_t round() {
    rings_.search_at_once();
    rings_.search(Rings::Clock::now(), [](collect::SegmentFile&) {});
    Scheduler::the().saw(rings_.collector().segments().size());
    const std::uint64_t events = rings_.read(
        [this](std::int32_t rank, std::uint32_t thread, std::span<const record::Event> batch) {
          note(rank, batch);
          matcher_.add(rank, thread, batch);
        },
        [] {});
    rings_.tell_headers([this](std::int32_t rank, const Rings::Told& told) {
      matcher_.note_drop(rank, told.dropped);
      matcher_.note_muted(rank, told.muted);
    });
    matcher_.end_round(rings_.all_found());
    return events;
  }

  void note(std::int32_t rank, std::span<const record::Event> events) {
    Scheduler::the().before(nullptr, false);  // the writer may go on before they are read
    for (const record::Event& e : events) {
      if (read_.show) show(rank, e);
      if (e.kind == record::EventKind::send) {
        read_.sends[{rank, static_cast<std::int64_t>(e.begin)}] = e.bytes;
        read_.sent.insert(e.bytes);
      }
      if (e.kind == record::EventKind::recv_done && (e.flags & record::flag::unrecorded) == 0)
        read_.received.insert(e.bytes);
    }
  }

  const ReaderKind& kind_;
  Read& read_;
  aggregator::Options options_;
  Rings rings_;
  Matcher matcher_;
  std::unique_ptr<collect::BoardFile> board_;
  std::uint32_t session_ = 0;
};

}  // namespace

void run_reader(World& world, const ReaderKind& kind, const std::function<bool()>& over,
                const std::function<bool()>& leave, Read& read) {
  // On the heap: one that is killed never runs a destructor, and must not tell the ranks that it left.
  auto* reader = new Reader(world, kind, read);
  reader->run(over, leave);
  delete reader;
}

}  // namespace explore
