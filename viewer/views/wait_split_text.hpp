// Why threads were blocked, in little room.
#pragma once

#include <cmath>
#include <string>

namespace pclscope::views {

// "12/3/85": late sender, late receiver, exposed transfer in percent of their sum; "-" when there is none.
inline std::string wait_split_text(double late_sender, double late_receiver, double transfer) {
  const double sum = late_sender + late_receiver + transfer;
  if (!(sum > 0) || !std::isfinite(sum)) return "-";
  const auto percent = [&](double part) { return std::to_string(std::lround(part / sum * 100)); };
  return percent(late_sender) + "/" + percent(late_receiver) + "/" + percent(transfer);
}

}  // namespace pclscope::views
