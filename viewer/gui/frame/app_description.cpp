// What is shown, as JSON: so that scripts and tests need not read pixels.
#include <cmath>
#include <nlohmann/json.hpp>

#include "interpose/record/functions.hpp"
#include "viewer/gui/base/selected_call.hpp"
#include "viewer/gui/frame/app.hpp"
#include "viewer/gui/frame/selection_words.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::gui {
namespace {

using Json = nlohmann::ordered_json;

Json pixel(layout::Point at) { return {std::lround(at.x), std::lround(at.y)}; }

Json told(const SelectedCall& call, const views::Sites& sites) {
  const std::string site = sites.location(call.site);
  return {{"rank", call.rank},
          {"thread", call.thread},
          {"function", std::string(record::function_name(call.function))},
          {"begin_s", static_cast<double>(call.begin_ns) * 1e-9},
          {"end_s", static_cast<double>(call.end_ns) * 1e-9},
          {"site", site.empty() ? Json() : Json(site)},
          {"path", call_path(call.site, sites)}};
}

Json selected(const Selection& selection, const views::Sites& sites) {
  Json json = Json::object();
  json["region"] = selection.region ? Json(*selection.region) : Json();
  json["rank"] = selection.rank ? Json(*selection.rank) : Json();
  json["ranks"] = selection.ranks;
  json["period"] = selection.period ? Json{selection.period->begin_s, selection.period->end_s} : Json();
  json["pinned"] = selection.pinned ? Json{selection.pinned->begin_s, selection.pinned->end_s} : Json();
  json["steps"] = selection.steps ? Json{selection.steps->first, selection.steps->end} : Json();
  json["phase"] = selection.phase ? Json(*selection.phase) : Json();
  json["finding"] = selection.finding ? Json(*selection.finding) : Json();
  json["function"] = selection.function ? Json(std::string(record::function_name(*selection.function))) : Json();
  json["message"] = Json();
  if (selection.message)
    json["message"] = {{"source", selection.message->source},
                       {"destination", selection.message->destination},
                       {"begin_s", selection.message->begin_s}};
  const SelectedCall* call = selected_call(selection);
  json["call"] = call != nullptr ? told(*call, sites) : Json();
  return json;
}

Json marks(const std::vector<Mark>& list) {
  Json json = Json::object();
  for (const Mark& mark : list) {
    if (std::isfinite(mark.at.x) && std::isfinite(mark.at.y) && std::abs(mark.at.x) < 1e6f &&
        std::abs(mark.at.y) < 1e6f)
      json[mark.name] = pixel(mark.at);
  }
  return json;
}

}  // namespace

std::string App::description() const {
  Json json;
  json["connection"] = {{"name", scene_.connection.name},
                        {"state", session::name_of(scene_.connection.phase)},
                        {"problem", scene_.connection.problem},
                        {"reconnects", scene_.connection.reconnects}};
  json["paused"] = scene_.paused;
  json["help"] = help_;
  json["search"] = search_.open ? marks(search_.marks) : Json();
  json["hint"] = hint_;
  json["theme"] = theme_ == layout::Theme::dark ? "dark" : "light";
  json["snapshots"] = fed_.snapshots;
  json["shown"] = Json();
  if (scene_.snapshot)
    json["shown"] = {{"sequence", scene_.snapshot->live.sequence},
                     {"duration_s", scene_.snapshot->duration_s},
                     {"matched", scene_.snapshot->messages.matched}};
  json["history_bytes"] = scene_.history ? scene_.history->bytes() : 0;
  json["selection"] = selected(selection_, status_.sites());
  json["selection"]["site"] = Json();
  if (const auto site = selected_site(selection_); site && scene_.snapshot)
    json["selection"]["site"] = views::Sites(scene_.snapshot->sites).location(*site);
  json["dag"] = Json();
  if (scene_.dag.dag)
    json["dag"] = {{"region", scene_.dag.question.region},
                   {"nodes", scene_.dag.dag->nodes.size()},
                   {"messages", scene_.dag.dag->messages}};
  json["dag_problem"] = scene_.dag.problem;
  json["copied"] = copied_;
  json["ruler"] = Json();
  if (const auto& ruler = ruler_.reading())
    json["ruler"] = {{"axis", ruler->kind == AxisKind::time ? "time" : "steps"},
                     {"at", ruler->at},
                     {"from", ruler->from ? Json(*ruler->from) : Json()},
                     {"views", ruler->lines}};
  json["settled"] = quiet_frames_ >= 4 && !shown_workspace().awaits();
  json["status"] = marks(status_.marks());
  json["workspace"] = shown_workspace().entry().name;
  json["workspaces"] = marks(tabs_);
  json["views"] = Json::object();
  if (scene_.snapshot)
    shown_workspace().each_shown([&](const View& view, const layout::Rect& at) {
      json["views"][view.title()] = {
          {"at", {std::lround(at.low.x), std::lround(at.low.y), std::lround(at.width()), std::lround(at.height())}},
          {"marks", marks(view.marks())}};
    });
  return json.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace pclscope::gui
