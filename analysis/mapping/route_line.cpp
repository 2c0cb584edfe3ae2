#include "analysis/mapping/route_line.hpp"

#include <charconv>

namespace pclscope::mapping {
namespace {

constexpr std::size_t most_coordinates = 33;

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  bool word(std::string_view expected) {
    skip();
    if (text_.substr(0, expected.size()) != expected) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  bool number(std::int32_t& value) {
    skip();
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }
  bool point(RoutePoint& point) {
    point.coordinates.clear();
    if (!number(point.number) || !word("(")) return false;
    for (std::int32_t value = 0; !word(")"); point.coordinates.push_back(value)) {
      if (point.coordinates.size() == most_coordinates || !number(value)) return false;
    }
    return !point.coordinates.empty();
  }
  bool at_end() {
    skip();
    return text_.empty();
  }

 private:
  void skip() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\t' || text_[0] == '\r')) text_.remove_prefix(1);
  }
  std::string_view text_;
};

}  // namespace

bool parse_route_line(std::string_view text, RouteLine& line) {
  Scanner scan(text);
  return scan.word("Hop") && scan.number(line.hop) && line.hop > 0 && scan.word(":") && scan.word("[") &&
         scan.number(line.source) && scan.word("-") && scan.number(line.destination) && scan.word("]") &&
         scan.point(line.from) && scan.word("->") && scan.point(line.to) && scan.at_end();
}

}  // namespace pclscope::mapping
