// pclscope export --to csv: a folder of tables, for pandas, R, spreadsheets, and to be made Parquet of. Columns are
// those of `pclscope inspect --csv`.
#include <charconv>
#include <unordered_map>

#include "interpose/record/functions.hpp"
#include "viewer/export/format.hpp"
#include "viewer/export/output.hpp"
#include "viewer/session/criteria.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/call_site_rows.hpp"
#include "viewer/views/condition_rows.hpp"
#include "viewer/views/delay_rows.hpp"
#include "viewer/views/evolution_rows.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/link_rows.hpp"
#include "viewer/views/marker_rows.hpp"
#include "viewer/views/message_rows.hpp"
#include "viewer/views/node_rows.hpp"
#include "viewer/views/wait_state_rows.hpp"

namespace pclscope::exporting {
namespace {

using Titles = std::vector<std::string>;

constexpr std::size_t csv_at_once = std::size_t{1} << 16;  // bytes

const Titles call_titles = {"rank",      "thread", "function",      "begin_s", "duration_s", "ending",
                            "outside_s", "peer",   "several_peers", "comm",    "bytes",      "site"};
const Titles collective_titles = {"rank",    "function",        "comm",   "ordinal",     "begin_s", "end_s",
                                  "awaited", "awaited_begin_s", "wait_s", "nonblocking", "bytes",   "site"};

// Cells of a row, one after the other; nothing is allocated for them.
class CsvTable {
 public:
  CsvTable(const std::string& folder, const char* name, const Titles& titles) : file_(folder + "/" + name + ".csv") {
    text_ = text::csv_line(titles) + "\n";
  }
  CsvTable& number(std::int64_t value) { return digits(value, 10); }
  CsvTable& number(std::uint64_t value, int base = 10) { return digits(value, base); }
  CsvTable& number(double value) {
    char cell[32];
    return text({cell, std::to_chars(cell, cell + sizeof cell, value).ptr});
  }
  // Exactly the stored nanosecond.
  CsvTable& seconds(std::int64_t ns) {
    if (ns < 0) text_ += '-';
    const auto size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    char cell[32];
    char* end = std::to_chars(cell, cell + 24, size / 1'000'000'000).ptr;
    *end = '.';
    std::uint64_t rest = size % 1'000'000'000;
    for (int place = 9; place > 0; --place, rest /= 10) end[place] = static_cast<char>('0' + rest % 10);
    return text({cell, end + 10});
  }
  CsvTable& flag(bool value) { return text(value ? "1" : "0"); }
  CsvTable& nothing() { return text(""); }
  CsvTable& text(std::string_view cell) {  // that needs no quotes
    text_ += cell;
    text_ += ',';
    return *this;
  }
  void end() {
    text_.back() = '\n';
    ++rows_;
    if (text_.size() < csv_at_once) return;
    file_.write(text_);
    text_.clear();
  }
  std::uint64_t rows() const { return rows_; }
  Status status() const { return file_.status(); }
  Status close() {
    file_.write(text_);
    text_.clear();
    return file_.close();
  }

 private:
  template <class Number>
  CsvTable& digits(Number value, int base) {
    char cell[32];
    return text({cell, std::to_chars(cell, cell + sizeof cell, value, base).ptr});
  }
  OutputFile file_;
  std::string text_;
  std::uint64_t rows_ = 0;
};

Status write_table(const std::string& folder, const char* name, const views::Rows& rows) {
  OutputFile file(folder + "/" + name + ".csv");
  file.write(text::csv_line(rows.titles) + "\n");
  for (const auto& cells : rows.cells) file.write(text::csv_line(cells) + "\n");
  return file.close();
}

class CsvSink final : public Sink {
 public:
  CsvSink(const Run& run, const std::string& folder)
      : run_(run),
        folder_(folder),
        sites_(run.snapshot.sites),
        criteria_(run.snapshot.criteria),
        messages_(folder, "messages", views::message_titles()),
        calls_(folder, "calls", call_titles),
        collectives_(folder, "collectives", collective_titles) {}

  Status add(const Slice& slice) override;
  Status finish() override;
  std::string wrote() const override {
    return text::format_count(messages_.rows()) + " messages, " + text::format_count(calls_.rows()) + " calls, " +
           text::format_count(collectives_.rows()) + " calls of collectives, and the tables of the whole run";
  }

 private:
  const std::string& place(std::uint64_t site);
  void put(const Message& m);
  void put(const MpiCall& c);
  void put(const CollectiveCall& c);

  const Run& run_;
  std::string folder_;
  views::Sites sites_;
  views::Criteria criteria_;
  std::unordered_map<std::uint64_t, std::string> places_;  // of call sites, as cells
  CsvTable messages_, calls_, collectives_;
};

const std::string& CsvSink::place(std::uint64_t site) {
  const auto [known, is_new] = places_.try_emplace(site);
  if (is_new) known->second = text::csv_line({text::printable(sites_.location(site))});
  return known->second;
}

void CsvSink::put(const Message& m) {
  const auto has = [&](std::uint32_t flag) { return (m.flags & flag) != 0; };
  const auto ratio = criteria_.ratio(m);
  const BlockedSpan split = blocked_span(m);
  CsvTable& to = messages_;
  to.number(std::int64_t{m.source}).number(std::int64_t{m.destination}).number(std::int64_t{m.tag});
  to.number(m.comm, 16).number(m.bytes).seconds(m.send_begin).seconds(m.time());
  ratio ? to.number(*ratio) : to.nothing();
  to.seconds(split.late_sender).seconds(split.late_receiver).seconds(split.transfer).seconds(split.overlapped);
  to.flag(ratio.value_or(0) > 1).flag(has(message_flag::inter_node)).flag(has(message_flag::clock_violation));
  to.flag(!has(message_flag::unseen_completion)).text(place(m.send_site)).text(place(m.recv_site));
  to.flag(has(message_flag::clock_unclear)).number(std::int64_t{m.clock_error_ns}).end();
}

void CsvSink::put(const MpiCall& c) {
  CsvTable& to = calls_;
  to.number(std::int64_t{c.rank}).number(std::int64_t{c.thread}).text(record::function_name(c.function));
  to.seconds(c.begin);
  const bool returned = c.ending == CallEnding::returned;
  returned ? to.seconds(c.end - c.begin) : to.nothing();
  to.text(returned ? "returned" : "unseen");
  c.outside >= 0 ? to.seconds(c.outside) : to.nothing();
  c.peer >= 0 ? to.number(std::int64_t{c.peer}) : to.nothing();
  to.flag(c.peer == MpiCall::several).number(c.comm, 16).number(c.bytes).text(place(c.site)).end();
}

void CsvSink::put(const CollectiveCall& c) {
  CsvTable& to = collectives_;
  to.number(std::int64_t{c.rank}).text(record::function_name(c.function)).number(c.comm, 16).number(c.ordinal);
  to.seconds(c.begin).seconds(c.end);
  c.awaited >= 0 ? to.number(std::int64_t{c.awaited}).seconds(c.awaited_begin) : to.nothing().nothing();
  to.seconds(c.wait()).flag(c.nonblocking).number(c.bytes).text(place(c.site)).end();
}

// Each row in the slice in which it begins.
Status CsvSink::add(const Slice& slice) {
  for (const Message& m : slice.messages)
    if (slice.holds(m.send_begin)) put(m);
  for (const MpiCall& c : slice.calls)
    if (slice.holds(c.begin)) put(c);
  for (const CollectiveCall& c : slice.collectives)
    if (slice.holds(c.begin)) put(c);
  for (const CsvTable* table : {&messages_, &calls_, &collectives_})
    if (const Status status = table->status(); !status) return status;
  return {};
}

Status CsvSink::finish() {
  const Snapshot& s = run_.snapshot;
  std::vector<Region> regions = s.regions;
  regions.insert(regions.end(), s.ended_regions.begin(), s.ended_regions.end());
  std::vector<RegionLink> links = s.links;
  links.insert(links.end(), s.ended_links.begin(), s.ended_links.end());
  const std::pair<const char*, views::Rows> tables[] = {
      {"summary", views::summary_rows(s)},
      {"regions", views::region_rows(regions)},
      {"links", views::link_rows(links)},
      {"periods", views::evolution_rows(views::evolution_of(s, {}))},
      {"ranks", views::rank_rows(s.ranks, s.application)},
      {"criteria", views::criterion_rows(s.criteria)},
      {"sites", views::source_line_rows(views::source_lines(s.site_activity, sites_))},
      {"delays", views::delay_rows(s.delays, s.regions, sites_)},
      {"waits", views::wait_state_rows(views::wait_states_of(s), sites_)},
      {"nodes", views::node_link_rows(s)},
      {"findings", views::finding_rows(s, sites_, views::all_findings(s))},
      {"conditions", views::condition_rows(s)},
      {"markers", views::marker_rows(s)},
      {"attribution", views::attribution_rows(s.attribution)},
  };
  for (const auto& [name, rows] : tables)
    if (const Status written = write_table(folder_, name, rows); !written) return written;
  for (CsvTable* table : {&messages_, &calls_, &collectives_})
    if (const Status closed = table->close(); !closed) return closed;
  return {};
}

Result<std::unique_ptr<Sink>> open_csv(const Run& run, const std::string& path, const Progress&) {
  return std::unique_ptr<Sink>(std::make_unique<CsvSink>(run, path));
}

}  // namespace

extern const FileFormat csv_format;
const FileFormat csv_format{"csv", "a folder of tables, for pandas, R and others",      "-csv",
                            true,  needs::messages | needs::calls | needs::collectives, open_csv};

}  // namespace pclscope::exporting
