// pclscope-aggregator: the tool's rank in the job. Roles: see README.md in this folder.
#include "analysis/aggregator/anchor.hpp"
#include "analysis/aggregator/options.hpp"
#include "analysis/aggregator/worker.hpp"

int main(int argc, char** argv) {
  pclscope::aggregator::Options options;
  if (const int status = pclscope::aggregator::parse(argc, argv, options); status != 0) return status;
  // Beside a job on one node nobody waits in MPI_Finalize, and there is nobody to talk to: no anchor.
  const bool alone = options.attach && options.aggregators == 1;
  return options.worker || alone ? pclscope::aggregator::run_worker(options)
                                 : pclscope::aggregator::run_anchor(options, argv);
}
