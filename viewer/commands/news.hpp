// The newest snapshot of a job that goes on, for what is said at its end.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analysis/values/snapshot.hpp"
#include "analysis/wire/subscriber.hpp"

namespace pclscope::commands {

class News {
 public:
  // `endpoint`: where the job publishes; "auto": wherever it announces itself; empty: do not ask.
  News(std::string job, std::string endpoint);

  // Takes what has come. A few times a second is enough: the subscriber keeps only the newest.
  void look();
  bool connected() const { return subscriber_ != nullptr; }
  const std::optional<Snapshot>& newest() const { return newest_; }

 private:
  void connect();
  std::string job_, endpoint_;
  std::unique_ptr<wire::Subscriber> subscriber_;
  std::optional<Snapshot> newest_;
};

}  // namespace pclscope::commands
