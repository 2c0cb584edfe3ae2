#include "viewer/alarms/metrics.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <set>

#include "viewer/text/printable.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/blocked_sections.hpp"
#include "viewer/views/finding_rows.hpp"

namespace pclscope::alarms {
namespace {

std::string quoted(const std::string& value) {
  std::string text = "\"";
  for (const char c : text::printable(value)) {
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text + "\"";
}

std::string value_text(double value) {
  if (!std::isfinite(value)) return "NaN";
  char text[40];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

class Family {
 public:
  // `type`: counter (whose samples end in _total) or gauge.
  Family(std::string& out, const std::string& job, const char* name, const char* type, const char* help,
         const char* unit = "")
      : out_(out), name_(std::string("pclscope_") + name), job_("job=" + quoted(job)) {
    out_ += "# TYPE " + name_ + " " + type + "\n";
    if (*unit != 0) out_ += "# UNIT " + name_ + " " + unit + "\n";
    out_ += "# HELP " + name_ + " " + help + "\n";
    if (std::strcmp(type, "counter") == 0) name_ += "_total";
  }
  void add(double value, const std::string& labels = "") {
    out_ += name_ + "{" + job_ + (labels.empty() ? "" : "," + labels) + "} " + value_text(value) + "\n";
  }

 private:
  std::string& out_;
  std::string name_, job_;
};

std::string label(const Region& region) {
  return "region=\"" + std::to_string(region.id) + "\",ranks=" + quoted(text::compact_ranks(region.ranks, 40));
}

}  // namespace

std::string metrics_text(const Snapshot& s, bool running) {
  std::string out;
  const std::string& job = s.job;
  const auto one = [&](const char* name, const char* type, const char* help, double value, const char* unit = "") {
    Family(out, job, name, type, help, unit).add(value);
  };
  one("up", "gauge", "1 while the job runs and its news come.", running ? 1 : 0);
  one("ranks", "gauge", "Ranks of the application.", static_cast<double>(s.ranks.size()));
  one("time_seconds", "gauge", "From the start to the newest event.", s.duration_s, "seconds");
  one("messages", "counter", "Matched messages.", static_cast<double>(s.messages.matched));
  one("message_bytes", "counter", "Payload of matched messages.", static_cast<double>(s.messages.bytes), "bytes");
  one("delayed_messages", "counter", "Matched messages slower than their criterion.",
      static_cast<double>(s.messages.delayed));
  one("dropped_events", "counter", "Events that were not recorded.", static_cast<double>(s.messages.dropped_events));
  one("ambiguous_messages", "counter", "Messages whose pairing is not certain.",
      static_cast<double>(s.messages.ambiguous));
  one("latency_ratio", "gauge", "Typical latency ratio of all messages so far.", s.latency.typical_ratio);
  one("blocked_ranks", "gauge", "Ranks that are blocked now.", static_cast<double>(views::blocked_ranks(s).size()));
  one("deadlocks", "gauge", "Deadlocks that stand now.", static_cast<double>(s.deadlocks.size()));
  const std::pair<const char*, double RankSummary::*> parts[] = {{"late_sender", &RankSummary::late_sender_s},
                                                                 {"late_receiver", &RankSummary::late_receiver_s},
                                                                 {"transfer", &RankSummary::transfer_s},
                                                                 {"collective", &RankSummary::collective_wait_s},
                                                                 {"one_sided", &RankSummary::one_sided_s},
                                                                 {"file", &RankSummary::file_s},
                                                                 {"other", &RankSummary::other_s},
                                                                 {"init", &RankSummary::init_s},
                                                                 {"finalize", &RankSummary::finalize_s}};
  {
    Family inside(out, job, "mpi_seconds", "counter", "Time of all ranks inside MPI, by its parts.", "seconds");
    for (const auto& [name, part] : parts) {
      double sum = 0;
      for (const RankSummary& rank : s.ranks) sum += rank.*part;
      inside.add(sum, std::string("part=\"") + name + "\"");
    }
  }
  {
    Family ratio(out, job, "region_latency_ratio", "gauge", "Typical latency ratio of a region's messages so far.");
    for (const Region& region : s.regions) ratio.add(region.level(), label(region));
  }
  {
    Family lost(out, job, "region_lost_seconds", "counter",
                "Time that a region's ranks were blocked because of its messages, and in collectives.", "seconds");
    for (const Region& r : s.regions)
      lost.add(r.late_sender_s + r.late_receiver_s + r.transfer_s + r.collective_wait_s, label(r));
  }
  {
    Family parts_of(out, job, "marker_seconds", "counter",
                    "Time of all ranks in parts that the program named, inside MPI and outside.", "seconds");
    std::set<std::string> told;  // names that differ in what cannot be printed only
    for (const Marker& m : s.markers) {
      const std::string name = "marker=" + quoted(m.name);
      if (!told.insert(name).second) continue;
      parts_of.add(m.mpi_s, name + ",inside=\"mpi\"");
      parts_of.add(std::max(m.time_s - m.mpi_s, 0.0), name + ",inside=\"computation\"");
    }
  }
  Family confidence(out, job, "finding_confidence", "gauge", "How sure a finding is, 0 to 1.");
  for (std::size_t i = 0; i < s.attribution.findings.size(); ++i) {
    const Finding& f = s.attribution.findings[i];
    confidence.add(f.confidence, "finding=\"" + std::to_string(i + 1) + "\",cause=\"" + views::cause_word(f.cause) +
                                     "\",ranks=" + quoted(text::compact_ranks(f.ranks, 40)) + ",acts=\"" +
                                     (f.open ? "1" : "0") + "\"");
  }
  return out + "# EOF\n";
}

Status replace_file(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new." + std::to_string(::getpid());
  const auto failed = [&](const std::string& file) {
    const Error error{ErrorCode::io, "cannot write " + file + ": " + std::strerror(errno)};
    ::unlink(fresh.c_str());
    return error;
  };
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return failed(path);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t more = ::write(file, text.data() + written, text.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    written += static_cast<std::size_t>(more);
  }
  if (written < text.size() || ::close(file) != 0) {
    const int why = errno;
    if (written < text.size()) ::close(file);
    errno = why;
    return failed(path);
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) return failed(path);
  return {};
}

}  // namespace pclscope::alarms
