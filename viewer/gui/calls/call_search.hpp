// Looks single calls up, never in the UI thread, which owns it: one question after the other, the newest counts. Those
// of a run that is in memory in a thread of its own, those of a dump with more of them in the thread that reads it.
// Private to viewer/gui/calls.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "viewer/gui/base/view.hpp"
#include "viewer/layout/call_part.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::gui {

struct CallQuestionOfPart {
  std::shared_ptr<const session::TimelineRun> run;  // null: counts only
  std::shared_ptr<const CallDensity> density;
  session::CallPart part;
  std::optional<session::CallPoint> point;
  std::size_t most = 0;  // in the list
  bool operator==(const CallQuestionOfPart&) const = default;
};

struct CallsOfPart {
  CallQuestionOfPart of;
  session::FoundCalls found;
  std::uint64_t counted = 0;  // all calls of the part
  std::string problem;        // the dump could not be read
};

class CallSearch {
 public:
  CallSearch() = default;
  CallSearch(const CallSearch&) = delete;
  ~CallSearch() { forget(); }
  void ask(const Scene& scene, CallQuestionOfPart question);
  // To what was asked last; null: not yet, or nothing was asked.
  std::shared_ptr<const CallsOfPart> answer() const;
  bool asked() const { return asked_.has_value(); }
  bool busy() const { return asked_ && !answer(); }
  void forget();

 private:
  using Worker = layout::Latest<CallQuestionOfPart, CallsOfPart>;
  struct Shared {  // with the thread that reads the dump
    std::mutex mutex;
    std::uint64_t newest = 0;  // question
    std::shared_ptr<const CallsOfPart> answer;
  };
  void read(const Scene& scene);

  std::optional<CallQuestionOfPart> asked_;
  std::unique_ptr<Worker> worker_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

// "12 of 340 calls stored", or why none is.
std::string stored_words(const Scene& scene, const CallsOfPart& calls);
// One call of a list.
struct CallCells {
  std::string rank, function, took, from, where;
};
CallCells cells_of(const session::FoundCall& call, const views::Sites& sites);
SelectedCall selected_of(const session::FoundCall& call);

}  // namespace pclscope::gui
