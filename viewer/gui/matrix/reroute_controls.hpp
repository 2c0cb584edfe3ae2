// Other routes (Fujiwara et al. 5.1): what is asked for, looked for in the background, looked at, applied, undone.
#pragma once

#include <atomic>
#include <memory>

#include "viewer/gui/base/controls.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/session/route_proposal.hpp"

namespace pclscope::gui {

class RerouteControls {
 public:
  // A row of buttons, and what they did.
  void draw(const Scene& scene, const Selection& selection, std::vector<Mark>& marks, layout::Point at, float right);
  // A search or a change is under way.
  bool unsettled() const { return asked_ != taken_; }

 private:
  struct Watch {
    std::atomic<bool> ended{false};
    std::atomic<double> share{0};
  };
  struct Question {
    std::uint64_t number = 0;
    session::NetworkCasePtr network;
    std::vector<std::uint32_t> chosen;
    mapping::RerouteRule rule;
    std::shared_ptr<const session::RouteProposal> apply;  // not null: that is all
    std::shared_ptr<Watch> watch;
  };
  struct Answer {
    std::uint64_t number = 0;
    std::shared_ptr<const session::RouteProposal> proposal;
    session::NetworkCasePtr applied;
  };
  static Answer work(const Question& question, const std::function<bool()>& stopping);
  void ask(const Scene& scene, Question question);
  void take_answer(NetworkState& network);
  static std::vector<std::uint32_t> chosen_routes(const Scene& scene, const Selection& selection);
  void draw_state(const Scene& scene, const Selection& selection, ControlRow& row) const;

  mapping::RerouteRule rule_{mapping::Criterion::load, 0, 5};  // passes as `pclscope route` makes
  double tolerance_ = 0;                                       // links
  std::uint64_t asked_ = 0, taken_ = 0;
  std::shared_ptr<Watch> watch_;
  std::unique_ptr<layout::Latest<Question, Answer>> worker_;
};

}  // namespace pclscope::gui
