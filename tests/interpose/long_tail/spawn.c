// 2 ranks. "spawn", "multiple": they start 2 children of this same program, each exchanges two messages with one of
// them, the children a sum among themselves. "connect": they connect to each other's port. "join": through a socket.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "check.h"

static void child(MPI_Comm parent) {
  int number = -1, sum = -1, mine = rank;
  MPI_Recv(&number, 1, MPI_INT, rank, 1, parent, MPI_STATUS_IGNORE);
  number += 1000;
  MPI_Send(&number, 1, MPI_INT, rank, 2, parent);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * (size - 1) / 2);
  MPI_Comm_disconnect(&parent);
}

static void talk(MPI_Comm children) {
  int number = 10 + rank;
  MPI_Send(&number, 1, MPI_INT, rank, 1, children);
  MPI_Recv(&number, 1, MPI_INT, rank, 2, children, MPI_STATUS_IGNORE);
  CHECK(number == 1010 + rank);
  MPI_Comm_disconnect(&children);
}

static void connect_pair(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm other;
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
  } else {
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
  }
  int theirs = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, 0, 3, &theirs, 1, MPI_INT, 0, 3, other, MPI_STATUS_IGNORE);
  CHECK(theirs == 1 - rank);
  MPI_Comm_disconnect(&other);
  if (rank == 0) MPI_Close_port(port);
}

static void join_pair(void) {
  int pair[2], theirs = -1;
  MPI_Comm other;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  pair[rank] = socket(AF_INET, SOCK_STREAM, 0);
  if (rank == 0) {
    CHECK(bind(pair[0], (struct sockaddr*)&address, sizeof address) == 0 && listen(pair[0], 1) == 0);
    CHECK(getsockname(pair[0], (struct sockaddr*)&address, &length) == 0);
  }
  MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
  int end = pair[rank];
  if (rank == 0) end = accept(pair[0], NULL, NULL);
  if (rank == 1) CHECK(connect(end, (struct sockaddr*)&address, sizeof address) == 0);
  MPI_Comm_join(end, &other);
  MPI_Sendrecv(&rank, 1, MPI_INT, 0, 3, &theirs, 1, MPI_INT, 0, 3, other, MPI_STATUS_IGNORE);
  CHECK(theirs == 1 - rank);
  MPI_Comm_disconnect(&other);
}

int main(int argc, char** argv) {
  start_mpi(&argc, &argv);
  MPI_Comm parent, children;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    child(parent);
    MPI_Finalize();
    return 0;
  }
  CHECK(size == 2 && argc == 2);
  if (strcmp(argv[1], "spawn") == 0) {
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    talk(children);
  } else if (strcmp(argv[1], "multiple") == 0) {
    char* commands[2] = {argv[0], argv[0]};
    int counts[2] = {1, 1};
    MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, &children,
                            MPI_ERRCODES_IGNORE);
    talk(children);
  } else if (strcmp(argv[1], "connect") == 0) {
    connect_pair();
  } else {
    join_pair();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s: right\n", argv[1]);
  MPI_Finalize();
  return 0;
}
