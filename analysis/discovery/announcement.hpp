// What a file that announces a job says: the job, and of which boot of which node it is. Private to analysis/discovery.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/discovery/jobs.hpp"

namespace pclscope::discovery {

inline constexpr char job_suffix[] = ".job";

struct Announcement {
  Job job;
  std::string host;  // of the announcing process, whatever the job calls its node
  std::string boot;
  std::uint64_t started_ticks = 0;
};

// Of this process' node, and the aggregator_pid that the job has.
std::string announcement_text(const Job& job);
// Nothing when it is none. What is in it was written by this user, but by any version of the program.
std::optional<Announcement> parse_announcement(const std::string& text);

enum class Standing { running, gone, elsewhere };
Standing standing(const Announcement& announced);  // of one in this node's runtime directory
// Of a shared one; two clusters may have nodes of one name.
bool is_here(const std::string& host, const std::string& boot);

// What rank 0 of a dormant job writes (interpose/recorder/announcement.cpp).
struct DormantAnnouncement {
  Dormant job;
  std::string host, boot;
};
std::optional<DormantAnnouncement> parse_dormant(const std::string& text);

// NAME@HOST.BOOT.job, of this node: nodes of two clusters may have one name, and a job's name may come again.
std::string shared_file_name(const std::string& job);
std::string shared_file_name(const Announcement& announced);
std::string dormant_file_name(const DormantAnnouncement& announced);

void sort_by_start(std::vector<Job>& jobs);

}  // namespace pclscope::discovery
