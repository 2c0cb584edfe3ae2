#include <nlohmann/json.hpp>

#include "viewer/text/printable.hpp"
#include "viewer/views/json_rows.hpp"
#include "viewer/views/summary_tables.hpp"

// The JSON objects are the one source of names and values; rows flatten them.
namespace pclscope::views {
using session::Json;

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return text::printable(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (!value.is_array()) return session::to_text(value, false);
  std::string list;
  for (const Json& item : value) {
    if (!list.empty()) list += ' ';
    list += csv_cell(item);
  }
  return list;
}

Rows rows_of(const std::vector<Json>& objects, const Json& example) {
  Rows rows;
  for (const auto& field : example.items()) rows.titles.push_back(field.key());
  for (const Json& object : objects) {
    rows.cells.emplace_back();
    for (const std::string& title : rows.titles) rows.cells.back().push_back(csv_cell(object.at(title)));
  }
  return rows;
}

Rows summary_rows(const Snapshot& snapshot) {
  Rows rows{{"field", "value"}, {}};
  const Json summary = session::summary_json(snapshot);
  for (const auto& group : summary.items()) {
    if (!group.value().is_object()) continue;
    for (const auto& field : group.value().items()) {
      if (field.key() == "clocks") continue;  // a list of objects: JSON only
      rows.cells.push_back({group.key() + "." + field.key(), csv_cell(field.value())});
    }
  }
  return rows;
}

Rows region_rows(const std::vector<Region>& regions) {
  std::vector<Json> objects;
  Json example = session::region_json({});
  example.erase("periods");  // rows of their own: inspect FILE evolution --csv
  for (const Region& region : regions) objects.push_back(session::region_json(region));
  return rows_of(objects, example);
}

Rows rank_rows(const std::vector<RankSummary>& ranks, const Application& application) {
  std::vector<Json> objects;
  for (const RankSummary& rank : ranks) objects.push_back(session::rank_json(rank, application));
  return rows_of(objects, session::rank_json({}, application));
}

Rows criterion_rows(const std::vector<Criterion>& criteria) {
  std::vector<Json> objects;
  for (const Criterion& criterion : criteria) objects.push_back(session::criterion_json(criterion));
  return rows_of(objects, session::criterion_json({}));
}

}  // namespace pclscope::views
