// pclscope inspect TARGET machine: what nodes are inside, where ranks are bound, and their messages by distance.
#include "viewer/inspect/topic.hpp"
#include "viewer/views/machine_rows.hpp"

namespace pclscope::commands {
namespace {

int show_machine(const InspectWords& words, InspectedRun& run) {
  const Snapshot& s = run.snapshot;
  const auto most = static_cast<std::size_t>(words.limit.value_or(words.format == Format::text ? 20 : UINT64_MAX));
  if (words.table != nullptr) return print_rows(*words.table, views::binding_rows(s, most));
  const auto traffic = run.session->traffic();
  if (!traffic) return fail(could_not, traffic.error().message);
  return show(
      words, run, std::nullopt,
      [&](const views::PageOptions& page) { return views::machine_lines(s, *traffic, most, page.width); },
      [&] { return views::binding_rows(s, most); }, [&] { return views::machine_json(s, *traffic, most); });
}

}  // namespace

extern const Topic machine_topic;
const Topic machine_topic{"machine", takes::tables, show_machine};

}  // namespace pclscope::commands
