// What is said of the message with the largest L: from whom to whom, how late, and of a dump the lines that sent and
// received it, which are asked for.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "viewer/gui/base/view.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::gui {

class WorstMessage {
 public:
  // Of the node of `dag` that received it.
  void tell(const Scene& scene, const Dag& dag, std::size_t node);
  void clear() { told_.clear(), lines_ = nullptr; }
  // Empty: nothing was asked for.
  std::string words(const Scene& scene) const;
  const std::optional<SelectedMessage>& message() const { return message_; }

 private:
  struct Lines {
    std::mutex mutex;
    std::uint64_t sent = 0, received = 0;  // ids of sites; 0: not known (yet)
  };
  std::string told_;
  std::optional<SelectedMessage> message_;
  std::shared_ptr<Lines> lines_;
};

}  // namespace pclscope::gui
