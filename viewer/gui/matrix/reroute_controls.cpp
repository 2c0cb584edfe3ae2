#include "viewer/gui/matrix/reroute_controls.hpp"

#include <algorithm>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {

using mapping::Criterion;

RerouteControls::Answer RerouteControls::work(const Question& question, const std::function<bool()>& stopping) {
  if (question.apply) return {question.number, nullptr, session::apply_proposal(*question.apply)};
  auto found = session::propose_routes(question.network, question.chosen, question.rule, [&](double share) {
    question.watch->share = share;
    return !question.watch->ended && !stopping();
  });
  if (!found) return {question.number, nullptr, nullptr};
  return {question.number, std::make_shared<const session::RouteProposal>(std::move(*found)), nullptr};
}

void RerouteControls::ask(const Scene& scene, Question question) {
  if (!worker_) worker_ = std::make_unique<layout::Latest<Question, Answer>>(work, scene.wake);
  if (watch_) watch_->ended = true;
  watch_ = std::make_shared<Watch>();
  question.number = ++asked_;
  question.watch = watch_;
  worker_->ask(std::move(question));
}

void RerouteControls::take_answer(NetworkState& network) {
  const auto answer = worker_ ? worker_->answer() : nullptr;
  if (!answer || answer->number != asked_ || answer->number == taken_) return;
  taken_ = answer->number;
  if (answer->applied) {
    network.apply(answer->applied);
    network.set_proposal(nullptr);
  } else {
    network.set_proposal(answer->proposal);
  }
}

// What is picked, else what is shown.
std::vector<std::uint32_t> RerouteControls::chosen_routes(const Scene& scene, const Selection& selection) {
  NetworkState& network = *scene.network;
  if (network.picked(selection) != nullptr) return *network.lit(selection);
  const auto shown = network.shown(scene);
  return shown && shown->network == network.current(scene) ? shown->routes : std::vector<std::uint32_t>();
}

void RerouteControls::draw(const Scene& scene, const Selection& selection, std::vector<Mark>& marks, layout::Point at,
                           float right) {
  NetworkState& network = *scene.network;
  take_answer(network);
  ControlRow row(scene, marks, "reroute", at, right);
  const auto proposal = network.proposal();
  if (row.button("other route",
                 "Looks for a better way for the selected route, for those of the selected link or vertex, or for all "
                 "that are shown (docs/mapping.md). Nothing is changed until apply."))
    ask(scene, {0, network.current(scene), chosen_routes(scene, selection), rule_, nullptr, nullptr});
  if (row.button("lighter", "The heaviest link on the route gets as light as can be.",
                 rule_.criterion == Criterion::load))
    rule_.criterion = Criterion::load;
  if (row.button("shorter", "The route gets as short as can be, over links that are not heavier.",
                 rule_.criterion == Criterion::length))
    rule_.criterion = Criterion::length;
  row.words("links more", scene.palette->faint_text);
  if (row.number("tolerance", "So many links more than now are permitted; and Enter.", tolerance_, 0, 64, 3))
    tolerance_ = rule_.delta = static_cast<std::int32_t>(tolerance_);
  if (unsettled() && row.button("cancel", "Ends the search.")) watch_->ended = true;
  if (proposal && !proposal->changes.empty() && !unsettled() &&
      row.button("apply", "All views show the network with the other routes."))
    ask(scene, {0, proposal->of, {}, rule_, proposal, nullptr});
  if (proposal && !unsettled() && row.button("drop", "Forgets the other routes.")) network.set_proposal(nullptr);
  if (network.can_undo() && row.button("undo", "As before the last apply.")) network.undo();
  if (network.can_redo() && row.button("redo", "As it was before undo.")) network.redo();
  row.next_row(at.x);
  draw_state(scene, selection, row);
}

void RerouteControls::draw_state(const Scene& scene, const Selection& selection, ControlRow& row) const {
  NetworkState& network = *scene.network;
  const layout::Palette& p = *scene.palette;
  if (unsettled()) return row.words("looking: " + text::format_share(watch_->share) + " so far", p.text);
  if (const auto proposal = network.proposal()) {
    row.words(session::proposal_words(*proposal), p.text);
    if (!proposal->changes.empty() && proposal->network_after < proposal->network_before)
      row.words("(of the network " + text::format_bytes(proposal->network_before) + " -> " +
                    text::format_bytes(proposal->network_after) + ")",
                p.faint_text);
    return;
  }
  const auto current = network.current(scene);
  if (current && !current->change.empty()) return row.words("shown with " + current->change, p.text);
  const std::size_t count = chosen_routes(scene, selection).size();
  row.words(text::format_count(count) + (network.picked(selection) ? " selected" : " shown") +
                (count == 1 ? " route" : " routes"),
            p.faint_text);
}

}  // namespace pclscope::gui
