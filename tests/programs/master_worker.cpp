// Rank 0 hands out tasks and takes results from whoever is ready; the others compute squares.
// Arguments: tasks (200).
// On paper: tasks messages with tag 1 from rank 0, tasks messages with tag 2 to rank 0, and one with tag 3 to each
// worker: 2 * tasks + n - 1 messages of 8, 16 and 8 bytes. Which worker gets which task differs from run to run, the
// sum of the squares does not: (tasks - 1) * tasks * (2 * tasks - 1) / 6.
#include <array>
#include <cstdint>
#include <cstdio>

#include "answer.h"

namespace {

enum Tag { task = 1, result = 2, stop = 3 };
using Number = std::int64_t;

Number master(Number tasks, int workers) {
  Number next = 0, running = 0, sum = 0;
  auto give = [&](int worker) {
    MPI_Send(&next, 1, MPI_INT64_T, worker, task, MPI_COMM_WORLD);
    ++next;
    ++running;
  };
  for (int worker = 1; worker <= workers && next < tasks; ++worker) give(worker);
  while (running > 0) {
    std::array<Number, 2> answer{};
    MPI_Status status;
    MPI_Recv(answer.data(), 2, MPI_INT64_T, MPI_ANY_SOURCE, result, MPI_COMM_WORLD, &status);
    REQUIRE(answer[1] == answer[0] * answer[0]);
    sum += answer[1];
    --running;
    if (next < tasks) give(status.MPI_SOURCE);
  }
  for (int worker = 1; worker <= workers; ++worker) MPI_Send(&sum, 1, MPI_INT64_T, worker, stop, MPI_COMM_WORLD);
  return sum;
}

void work() {
  for (;;) {
    Number number = 0;
    MPI_Status status;
    MPI_Recv(&number, 1, MPI_INT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == stop) return;
    const std::array<Number, 2> answer{number, number * number};
    MPI_Send(answer.data(), 2, MPI_INT64_T, 0, result, MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Number tasks = argument(argc, argv, 1, 200);
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  REQUIRE(size >= 2);
  if (rank == 0) {
    const Number sum = master(tasks, size - 1);
    REQUIRE(sum == (tasks - 1) * tasks * (2 * tasks - 1) / 6);
    std::printf("master_worker: workers %d tasks %lld sum %lld\n", size - 1, static_cast<long long>(tasks),
                static_cast<long long>(sum));
  } else {
    work();
  }
  MPI_Finalize();
}
