// Call sites ranked by the time lost to late messages, for people and programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/session.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/message_rows.hpp"
#include "viewer/views/site_text.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

// One line of the source. A compiler may make several call sites of it (unrolled, inlined twice): they are added up.
struct SourceLine {
  CallSite place;                  // the first of them; id 0: messages whose site is not known
  std::vector<std::uint32_t> ids;  // ascending
  SiteActivity sum;
};
std::vector<SourceLine> source_lines(const std::vector<SiteActivity>& activity, const Sites& sites);

// The same from stored messages, of those that concern the ranks of the query; excess by the final criteria.
Result<std::vector<SiteActivity>> activity_of_messages(session::Session& session, const Criteria& criteria,
                                                       const std::vector<std::int32_t>& ranks);

session::Json source_line_json(const SourceLine& line);
Rows source_line_rows(const std::vector<SourceLine>& lines);
std::vector<std::string> source_line_lines(const std::vector<SourceLine>& lines, std::size_t width);

}  // namespace pclscope::views
