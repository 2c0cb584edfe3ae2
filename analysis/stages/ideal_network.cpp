// What an ideal network would have saved each rank (analysis/efficiency/ideal_network.hpp). Live it takes 0.5 % of
// wall time; what comes too fast for that is left out, and counted.
#include "analysis/efficiency/ideal_network.hpp"

#include <algorithm>

#include "analysis/stages/stage.hpp"
#include "analysis/values/time_share.hpp"

namespace pclscope {
namespace {

constexpr double live_share = 0.005, saved_s = 0.1;
constexpr std::int64_t together = 5;               // windows that are replayed at once
constexpr std::size_t most_together = 10'000;      // messages and calls: with more, fewer windows
constexpr std::size_t most_at_once_live = 20'000;  // else rings wait too long for who reads them: some 25 ms
constexpr std::size_t most_at_once = 3'000'000;    // some 300 bytes each

class IdealNetworkStage final : public Stage {
 public:
  explicit IdealNetworkStage(std::int32_t ranks) : network_(ranks) {}

  // The newest window stays for the next time: it has what was under way at its begin.
  void add(const Input& input) override {
    messages_ += input.messages.size();
    const auto start = TimeShare::Clock::now();
    const bool has_time = input.at_leisure || time_.allows(start);
    if (!has_time || (!input.at_leisure && input.messages.size() > most_at_once_live))
      return leave_out(input.messages.size(), input.end_ns);
    network_.add(input.messages, input.calls);
    window_ns_ = std::max(window_ns_, input.end_ns - input.begin_ns);
    if (input.begin_ns <= done_ns_) return;
    if (input.begin_ns - done_ns_ < together * window_ns_ && network_.held() < most_together) return;
    if (network_.held() <= (input.at_leisure ? most_at_once : most_at_once_live)) replay(input.begin_ns);
    else leave_out(0, input.end_ns);
    time_.used(TimeShare::Clock::now() - start);
  }

  void finish() override {
    if (network_.held() <= most_at_once) replay(INT64_MAX);
    else leave_out(0, INT64_MAX);
  }

  void fill(Snapshot& snapshot) const override {
    snapshot.ideal.messages_left_out = left_out_;
    snapshot.ideal.messages = messages_ - std::min<std::uint64_t>(messages_, left_out_ + network_.waiting());
    for (RankSummary& rank : snapshot.ranks)
      rank.ideal_saved_s = static_cast<double>(network_.saved_ns(rank.rank)) * 1e-9;
  }

 private:
  void replay(std::int64_t until_ns) {
    const std::size_t before = network_.waiting();
    if (!network_.advance(until_ns)) left_out_ += before - network_.waiting();
    done_ns_ = until_ns;
  }
  // What waits, and `more` messages.
  void leave_out(std::size_t more, std::int64_t until_ns) {
    left_out_ += network_.waiting() + more;
    network_.skip(until_ns);
    done_ns_ = std::max(done_ns_, until_ns);
  }

  efficiency::IdealNetwork network_;
  TimeShare time_{live_share, saved_s};
  std::int64_t window_ns_ = 1;  // the longest so far: those without messages are as long as they happen to be
  std::int64_t done_ns_ = INT64_MIN / 2;
  std::uint64_t messages_ = 0, left_out_ = 0;
};

}  // namespace

std::unique_ptr<Stage> make_ideal_network_stage(std::int32_t ranks);
std::unique_ptr<Stage> make_ideal_network_stage(std::int32_t ranks) {
  return std::make_unique<IdealNetworkStage>(ranks);
}

}  // namespace pclscope
