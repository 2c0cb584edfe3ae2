// pclscope-aggregator: the tool's rank in the job. Roles: see README.md in this folder.
#include "analysis/aggregator/anchor.hpp"
#include "analysis/aggregator/options.hpp"
#include "analysis/aggregator/worker.hpp"

int main(int argc, char** argv) {
  pclscope::aggregator::Options options;
  if (const int status = pclscope::aggregator::parse(argc, argv, options); status != 0) return status;
  return options.worker ? pclscope::aggregator::run_worker(options) : pclscope::aggregator::run_anchor(options, argv);
}
