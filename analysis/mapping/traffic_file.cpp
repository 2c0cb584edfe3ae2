#include "analysis/mapping/traffic_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace pclscope::mapping {
namespace {

constexpr std::int64_t highest_rank = (std::int64_t{1} << 31) - 2;
constexpr std::int64_t most_ranks = std::int64_t{1} << 22;
constexpr std::int64_t spread_allowed = 4;  // numbers of ranks may be up to so many times as many as ranks that talk
constexpr std::int64_t always_allowed = 1024;

struct Line {
  std::int64_t source = 0, destination = 0;
  std::uint64_t messages = 1;
  double bytes = 0;
  std::int32_t hops = -1;
};

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';'; }

// Up to five words; more are counted only.
std::size_t split(std::string_view line, std::array<std::string_view, 5>& words) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && blank(line[at])) ++at;
    const std::size_t begin = at;
    while (at < line.size() && !blank(line[at])) ++at;
    if (at == begin) break;
    if (count < words.size()) words[count] = line.substr(begin, at - begin);
    ++count;
  }
  return count;
}

template <class Number>
bool parse_number(std::string_view word, Number& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

class TrafficReader {
 public:
  Result<TrafficFile> read(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = text.find('\n', at);
      if (end == std::string_view::npos) end = text.size();
      ++number_;
      if (!take(text.substr(at, end - at)))
        return Error{ErrorCode::damaged, "line " + std::to_string(number_) + ": " + why_};
      at = end + 1;
    }
    return finish();
  }

 private:
  bool wrong(const std::string& why) {
    why_ = why;
    return false;
  }

  bool wrong(std::string_view word, const char* what) {
    why_ = '\'';
    why_.append(word.substr(0, 40)).append("' is no ").append(what);
    return false;
  }

  bool take(std::string_view text) {
    if (text.substr(0, traffic_heading.size()) == traffic_heading && lines_.empty()) {
      ours_ = file_.counts_messages = true;
      return true;
    }
    if (const std::size_t comment = text.find('#'); comment != std::string_view::npos) text = text.substr(0, comment);
    std::array<std::string_view, 5> words;
    const std::size_t count = split(text, words);
    if (count == 0) return true;
    if (count < 3 || count > 4 || (ours_ && count != 4))
      return wrong(ours_ ? "expected: source destination messages bytes" : "expected: source destination bytes [hops]");
    if (columns_ != 0 && count != columns_)
      return wrong(std::to_string(count) + " columns, the lines before have " + std::to_string(columns_));
    columns_ = count;
    return take(words, count);
  }

  bool take(const std::array<std::string_view, 5>& words, std::size_t count) {
    Line line;
    const auto rank = [&](std::string_view word, std::int64_t& value) {
      return (parse_number(word, value) && value >= 0 && value <= highest_rank) || wrong(word, "rank");
    };
    if (!rank(words[0], line.source) || !rank(words[1], line.destination)) return false;
    const std::string_view bytes = words[ours_ ? 3 : 2];
    if (!parse_number(bytes, line.bytes) || !std::isfinite(line.bytes) || line.bytes < 0 || line.bytes > 1e30)
      return wrong(bytes, "number of bytes");
    if (ours_ && !parse_number(words[2], line.messages)) return wrong(words[2], "number of messages");
    if (!ours_ && count == 4 && (!parse_number(words[3], line.hops) || line.hops < 0))
      return wrong(words[3], "number of hops");
    lines_.push_back(line);
    return true;
  }

  Result<TrafficFile> finish() {
    if (lines_.empty()) return Error{ErrorCode::damaged, "no line says who sends to whom"};
    std::vector<std::int64_t> numbers;
    for (const Line& line : lines_) numbers.push_back(line.source), numbers.push_back(line.destination);
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    const auto talking = static_cast<std::int64_t>(numbers.size());
    const bool dense = numbers.back() < std::max(always_allowed, spread_allowed * talking) || ours_;
    const std::int64_t ranks = dense ? numbers.back() + 1 : talking;
    if (ranks > most_ranks)
      return Error{ErrorCode::damaged, "rank " + std::to_string(numbers.back()) + ": more than " +
                                           std::to_string(most_ranks) + " ranks cannot be read"};
    file_.traffic.ranks = static_cast<std::int32_t>(ranks);
    if (!dense) {
      for (Line& line : lines_)
        line.source = place(numbers, line.source), line.destination = place(numbers, line.destination);
      file_.names = std::move(numbers);
    }
    add_up();
    return std::move(file_);
  }

  static std::int64_t place(const std::vector<std::int64_t>& numbers, std::int64_t name) {
    return std::lower_bound(numbers.begin(), numbers.end(), name) - numbers.begin();
  }

  void add_up() {
    // Files mostly come in order.
    const auto before = [](const Line& a, const Line& b) {
      return a.source != b.source ? a.source < b.source : a.destination < b.destination;
    };
    if (!std::is_sorted(lines_.begin(), lines_.end(), before)) std::stable_sort(lines_.begin(), lines_.end(), before);
    for (const Line& line : lines_) {
      if (line.source == line.destination) {
        ++file_.self_lines;
        continue;
      }
      const auto source = static_cast<std::int32_t>(line.source),
                 destination = static_cast<std::int32_t>(line.destination);
      std::vector<Flow>& flows = file_.traffic.flows;
      if (flows.empty() || flows.back().source != source || flows.back().destination != destination) {
        flows.push_back({source, destination, 0, 0});
        if (line.hops >= 0) file_.hops.push_back(line.hops);
      }
      const std::uint64_t room = UINT64_MAX - flows.back().messages;
      flows.back().messages += std::min(room, line.messages);
      flows.back().bytes += line.bytes;
      if (line.hops >= 0) file_.hops.back() = line.hops;
    }
  }

  TrafficFile file_;
  std::vector<Line> lines_;
  std::size_t number_ = 0, columns_ = 0;
  bool ours_ = false;
  std::string why_;
};

}  // namespace

Result<TrafficFile> parse_traffic(std::string_view text) { return TrafficReader().read(text); }

Result<TrafficFile> read_traffic(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()).good()) {
    const ErrorCode code = errno == ENOENT   ? ErrorCode::not_found
                           : errno == EACCES ? ErrorCode::not_permitted
                                             : ErrorCode::io;
    return Error{code, "cannot read " + path + ": " + (errno != 0 ? std::strerror(errno) : "it is empty")};
  }
  Result<TrafficFile> parsed = parse_traffic(text.view());
  if (!parsed) return Error{parsed.error().code, path + ", " + parsed.error().message};
  return parsed;
}

std::string format_traffic(const Traffic& traffic) {
  std::string text = std::string(traffic_heading) + "\n# source destination messages bytes\n";
  char number[40];
  for (const Flow& flow : traffic.flows) {
    text += std::to_string(flow.source) + ' ' + std::to_string(flow.destination) + ' ' + std::to_string(flow.messages) +
            ' ';
    text.append(number, std::to_chars(number, number + sizeof number, flow.bytes).ptr);
    text += '\n';
  }
  return text;
}

}  // namespace pclscope::mapping
