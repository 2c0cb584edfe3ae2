#include "viewer/gui/calls/call_search.hpp"

#include <algorithm>
#include <cstdio>

#include "viewer/gui/base/selected_call.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/function_names.hpp"

namespace pclscope::gui {

void CallSearch::ask(const Scene& scene, CallQuestionOfPart question) {
  if (asked_ && *asked_ == question) return;
  asked_ = std::move(question);
  if (asked_->run && !asked_->run->lacks.empty() && scene.ask) return read(scene);
  if (!worker_)
    worker_ = std::make_unique<Worker>(
        [](const CallQuestionOfPart& q, const auto& stopping) {
          CallsOfPart calls;
          calls.of = q;
          if (q.run) calls.found = session::find_calls(*q.run, q.part, q.most, q.point, stopping);
          if (q.density) calls.counted = layout::counted_in(*q.density, q.part);
          return calls;
        },
        scene.wake);
  worker_->ask(*asked_);
}

// More calls are stored than are in memory.
void CallSearch::read(const Scene& scene) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(shared_->mutex);
    number = ++shared_->newest;
  }
  scene.ask(
      [shared = shared_, q = *asked_, number, wake = scene.wake](session::Session* session, const auto& stopping) {
        const auto outdated = [&] {
          const std::lock_guard lock(shared->mutex);
          return shared->newest != number || stopping();
        };
        if (outdated()) return;
        auto calls = std::make_shared<CallsOfPart>();
        calls->of = q;
        calls->counted = q.density ? layout::counted_in(*q.density, q.part) : 0;
        auto found = session == nullptr
                         ? Result<session::FoundCalls>(Error{ErrorCode::unreachable, "the run cannot be read any more"})
                         : session::read_calls(*session, q.run->ranks, q.part, q.most, q.point, outdated);
        if (found) calls->found = std::move(*found);
        else calls->problem = found.error().message;
        if (outdated()) return;
        {
          const std::lock_guard lock(shared->mutex);
          shared->answer = std::move(calls);
        }
        if (wake) wake();
      });
}

void CallSearch::forget() {
  asked_.reset();
  const std::lock_guard lock(shared_->mutex);
  ++shared_->newest;
}

std::shared_ptr<const CallsOfPart> CallSearch::answer() const {
  if (!asked_) return nullptr;
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->answer && shared_->answer->of == *asked_) return shared_->answer;
  }
  auto newest = worker_ ? worker_->answer() : nullptr;
  return newest && newest->of == *asked_ ? newest : nullptr;
}

std::string stored_words(const Scene& scene, const CallsOfPart& calls) {
  const auto& run = calls.of.run;
  if (!run || run->count.stored == 0)
    return scene.calls != nullptr ? scene.calls->words(scene) : "single calls are shown from a dump";
  if (!calls.problem.empty()) return calls.problem;
  const std::uint64_t stored = calls.found.stored, all = std::max(calls.counted, stored);
  if (all == 0) return "no calls";
  std::string words = text::format_count(stored) + " of " + text::format_count(all) + (all == 1 ? " call" : " calls") +
                      (run->live ? " known" : " stored");
  if (stored == 0)
    words = (run->live ? "no single call of this part is among the newest: "
                       : "the single calls of this part were not kept (--keep, --budget): ") +
            text::format_count(all) + " were counted";
  return words;
}

CallCells cells_of(const session::FoundCall& found, const views::Sites& sites) {
  const session::TimelineCall& call = found.call;
  CallCells cells;
  cells.rank = "rank " + std::to_string(found.rank);
  if (found.thread > 0) cells.rank += "." + std::to_string(found.thread);
  cells.function = views::function_name(call.function);
  cells.took = text::format_seconds(static_cast<double>(session::duration_of(call)) * 1e-9);
  char from[48];
  std::snprintf(from, sizeof from, "%.6f s", static_cast<double>(call.begin) * 1e-9);
  cells.from = from;
  cells.where = call_path_line(call.site, sites);
  return cells;
}

SelectedCall selected_of(const session::FoundCall& found) {
  return {found.rank, found.thread, found.call.function, found.call.site, found.call.begin, found.call.end};
}

}  // namespace pclscope::gui
