#include "viewer/commands/news.hpp"

#include "analysis/discovery/jobs.hpp"

namespace pclscope::commands {

News::News(std::string job, std::string endpoint) : job_(std::move(job)), endpoint_(std::move(endpoint)) {
  // A viewer connects to "tcp://*:5555" by this node's own name.
  if (const auto star = endpoint_.find("://*:"); star != std::string::npos) endpoint_.replace(star + 3, 1, "127.0.0.1");
  if (endpoint_.rfind("tcp://", 0) == 0 && endpoint_.ends_with(":0")) endpoint_ = "auto";  // which port: it announces
  if (!endpoint_.empty() && endpoint_ != "auto") connect();
}

void News::connect() {
  auto subscriber = wire::Subscriber::connect(endpoint_);
  if (subscriber) subscriber_ = std::move(*subscriber);
}

void News::look() {
  if (!subscriber_ && endpoint_ == "auto") {
    const auto jobs = discovery::jobs_here();
    for (const discovery::Job& job : jobs ? *jobs : std::vector<discovery::Job>()) {
      if (job.name != job_) continue;
      endpoint_ = job.endpoint;
      connect();
      break;
    }
  }
  if (!subscriber_) return;
  auto got = subscriber_->next(std::chrono::milliseconds(0));
  if (got && *got) newest_ = std::move(**got);
}

}  // namespace pclscope::commands
