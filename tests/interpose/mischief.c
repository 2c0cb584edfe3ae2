// Programs that do what MPI programs may do and tools do not expect; test_mischief.py says what must come of it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;
#define CHECK(what)                                                  \
  if (!(what)) {                                                     \
    fprintf(stderr, "rank %d line %d: %s\n", rank, __LINE__, #what); \
    MPI_Abort(MPI_COMM_WORLD, 1);                                    \
  }

static void ring(long rounds) {
  long token = 0;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (long i = 0; i < rounds; i++) {
    if (size == 1) {  // a blocking send to oneself may block
      token++;
      continue;
    }
    if (rank == 0) token++, MPI_Send(&token, 1, MPI_LONG, right, 0, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_LONG, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) token++, MPI_Send(&token, 1, MPI_LONG, right, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("token %ld\n", token);
}

static void to_itself(long count) {
  for (long i = 0; i < count; i++) {
    long in = -1;
    MPI_Sendrecv(&i, 1, MPI_LONG, 0, 0, &in, 1, MPI_LONG, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(in == i);
  }
}

static void wait_for(const char* path) {
  while (access(path, F_OK) != 0) usleep(1000);
}
// Two bursts of messages, each when a file says so: DIRECTORY/1 and /3; /2 says that the first is over.
static void bursts(const char* directory, long first, long second) {
  char path[3][512];
  for (int i = 0; i < 3; i++) snprintf(path[i], sizeof path[i], "%s/%d", directory, i + 1);
  wait_for(path[0]);
  to_itself(first);
  fclose(fopen(path[1], "w"));
  wait_for(path[2]);
  to_itself(second);
}

// Messages when nothing is left of /dev/shm.
static void in_full_memory(long count) {
  const int file = open("/dev/shm/filling", O_RDWR | O_CREAT | O_EXCL, 0600);
  CHECK(file >= 0 && unlink("/dev/shm/filling") == 0);
  off_t filled = 0;
  for (off_t piece = 1 << 20; piece >= 4096; piece /= 2)
    while (posix_fallocate(file, filled, piece) == 0) filled += piece;
  to_itself(count);
  close(file);
}

// The child uses what it inherited: nothing may crash, and nothing of it may be recorded.
static void forks(void) {
  long one = 1;
  to_itself(3);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    int r = -1, n = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Send(&one, 1, MPI_LONG, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    _exit(r == rank && n == size ? 7 : 1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  CHECK(system("/bin/true") == 0);
  to_itself(2);
}

static void* one_thread(void* number) {
  const long n = (long)number;
  MPI_Send(&n, 1, MPI_LONG, MPI_PROC_NULL, (int)n, MPI_COMM_WORLD);
  return NULL;
}

// Threads that come and go, one at a time, and some at once.
static void threads(int provided) {
  pthread_t thread;
  for (long i = 0; i < 20; i++) {
    pthread_create(&thread, NULL, one_thread, (void*)i);
    pthread_join(thread, NULL);
  }
  if (provided != MPI_THREAD_MULTIPLE) return;
  pthread_t many[4];
  for (long i = 0; i < 4; i++) pthread_create(&many[i], NULL, one_thread, (void*)(100 + i));
  for (long i = 0; i < 4; i++) pthread_join(many[i], NULL);
}

static void many_communicators(void) {
  for (int i = 0; i < 2000; i++) {
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &made);
    int n;
    MPI_Comm_size(made, &n);
    CHECK(n == size);
    MPI_Comm_free(&made);
  }
}

static int outside(void) {
  int before = -1, after = -1, version, subversion, length;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Initialized(&before);
  MPI_Get_version(&version, &subversion);
  MPI_Get_library_version(text, &length);
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Finalize();
  MPI_Finalized(&after);
  MPI_Initialized(&version);
  return before == 0 && after == 1 && version == 1 ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (strcmp(argv[1], "outside") == 0) return outside();
  int provided = MPI_THREAD_SINGLE;
  if (strcmp(argv[1], "threads") == 0) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "ring") == 0) ring(argc > 2 ? atol(argv[2]) : 10);
  if (strcmp(argv[1], "self") == 0) to_itself(argc > 2 ? atol(argv[2]) : 10);
  if (strcmp(argv[1], "bursts") == 0) bursts(argv[2], atol(argv[3]), atol(argv[4]));
  if (strcmp(argv[1], "full") == 0) in_full_memory(atol(argv[2]));
  if (strcmp(argv[1], "forks") == 0) forks();
  if (strcmp(argv[1], "threads") == 0) threads(provided);
  if (strcmp(argv[1], "communicators") == 0) many_communicators();
  if (strcmp(argv[1], "no_finalize") == 0) _exit(3);
  if (strcmp(argv[1], "abort") == 0 && rank == 0) MPI_Abort(MPI_COMM_WORLD, 5);
  if (strcmp(argv[1], "abort") == 0) pause();
  MPI_Finalize();
  return 0;
}
