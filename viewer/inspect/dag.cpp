// pclscope inspect TARGET dag: who depended on whom in a period, from the dump or asked from the running job.
#include "analysis/order/dag_dot.hpp"
#include "analysis/order/fold.hpp"
#include "analysis/wire/frame.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/session/regions.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/dag_rows.hpp"

namespace pclscope::commands {

namespace {

Dag one_node_per_process(const Dag& dag) {
  Folds folds;
  for (const DagRank& rank : dag.ranks) folds.ranks.push_back(rank.rank);
  return fold(dag, folds).dag;
}

int print_dag(const InspectWords& words, const InspectedRun& run, const Dag& dag) {
  if (words.format == Format::dot) return print(dag_to_dot(dag)) ? done : could_not;
  if (words.format == Format::json) {
    return views::write_dag_json(dag, run.snapshot.application.nodes, views::Sites(run.snapshot.sites), print)
               ? done
               : could_not;
  }
  return print_lines(views::dag_lines(dag, inspect_page(words).width)) ? done : could_not;
}

int show_dag(const InspectWords& words, InspectedRun& run) {
  const auto span = span_of(words, run);
  if (!span) return fail(span.error());
  DagQuestion question;
  if (words.region) {
    if (const auto found = session::find_region(run.snapshot, *words.region); !found)
      return fail(could_not, found.error().message);
    question.region = *words.region;
  }
  for (const std::int32_t rank : words.ranks) {
    if (rank < run.snapshot.application.ranks) continue;
    return fail(could_not,
                "no rank " + std::to_string(rank) + ": the run has " + std::to_string(run.snapshot.application.ranks));
  }
  question.ranks = words.ranks;
  question.from_ns = span->begin_ns;
  question.to_ns = span->end_ns;
  if (words.limit) {
    const std::uint64_t most = run.session->live() ? wire::limit::dag_messages : UINT32_MAX;
    question.most_messages = static_cast<std::uint32_t>(std::min(*words.limit, most));
  }
  auto dag = run.session->dag(question);
  if (!dag) return fail(could_not, dag.error().message);
  const std::string missing = dag->partial && dag->why_partial.empty() ? "some messages are missing" : dag->why_partial;
  dag->why_partial = both(missing, why_incomplete(run));
  dag->partial = !dag->why_partial.empty();
  tell_partial(run, dag->why_partial);
  return print_dag(words, run, words.fold ? one_node_per_process(*dag) : *dag);
}

}  // namespace

extern const Topic dag_topic;
const Topic dag_topic{"dag", takes::rank | takes::region | takes::period | takes::dot | takes::fold, show_dag};

}  // namespace pclscope::commands
