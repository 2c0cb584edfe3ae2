// Stands in for the tool's rank: joins the job's world, waits until every application rank entered MPI_Finalize (or
// one aborts), leaves. Reads nothing. PCLSCOPE_JOB and PCLSCOPE_RANKS are set as for the real one.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/record/board.hpp"
#include "interpose/record/segment.hpp"

int main(int argc, char** argv) {
  char path[256];
  snprintf(path, sizeof path, "/dev/shm/%s%s-%08x-board", pclscope::record::shm_prefix, getenv("PCLSCOPE_JOB"),
           pclscope::record::this_node_key());
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  using pclscope::record::Board;
  if (file < 0 || ftruncate(file, sizeof(Board)) != 0) return 1;
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 1;
  auto* board = static_cast<Board*>(memory);
  MPI_Init(&argc, &argv);
  const auto ranks = static_cast<unsigned>(atoi(getenv("PCLSCOPE_RANKS")));
  for (int i = 0; i < 600000 && board->finalizing < ranks; ++i) usleep(1000);
  MPI_Finalize();
  return 0;
}
