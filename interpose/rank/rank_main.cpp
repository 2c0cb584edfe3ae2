// pclscope-rank: started by the MPI launcher in place of each program of the job.
//
//   pclscope-rank PROGRAM args...                an application rank: notes its pid on the node's board, preloads the
//                                                library named by PCLSCOPE_PRELOAD, and becomes PROGRAM
//   pclscope-rank --aggregator [--mpi FILE] PROGRAM args...
//                                                the tool's own rank: becomes PROGRAM, without the library and whatever
//                                                else the application preloads, deaf to signals; with FILE as its MPI
//
// It exists so that LD_PRELOAD reaches the application only (not the launcher's daemons), and so that the tool knows
// which programs were started before any of them called MPI. The pid survives exec. It links libc only.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/rank/user_links.hpp"
#include "interpose/record/board.hpp"
#include "interpose/record/segment.hpp"

namespace {

using pclscope::record::Board;

Board* open_board(const char* token) {
  char path[256];
  const int length = snprintf(path, sizeof path, "/dev/shm/%s%s-%08x-board", pclscope::record::shm_prefix, token,
                              pclscope::record::this_node_key());
  if (length < 0 || length >= static_cast<int>(sizeof path)) return nullptr;
  return pclscope::record::map_board(path);
}

// The number in a variable; -1: there is none.
long number(const char* variable) {
  const char* text = getenv(variable);
  char* end = nullptr;
  const long value = text != nullptr ? strtol(text, &end, 10) : -1;
  return text == nullptr || end == text || *end != 0 || value < 0 ? -1 : value;
}

long aggregators() {
  const long count = number(pclscope::record::aggregators_variable);
  return count >= 1 && count <= static_cast<long>(pclscope::record::most_parts) ? count : 1;
}

// With several aggregators on this node: which of them reads this rank. Neighbours in the node's order of ranks talk to
// each other, so they get the same one; where no launcher tells the order, that of their starts serves. `index`: in it.
unsigned choose_part(unsigned index) {
  const long count = aggregators();
  if (count == 1) return 0;
  long part = static_cast<long>(index) % count;
  constexpr const char* told[][2] = {{"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                     {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"}};
  for (const auto& [place, size] : told) {
    const long rank = number(place), ranks = number(size) - count;  // the tool's are the last of the node
    if (rank >= 0 && rank < ranks) part = rank * count / ranks;
  }
  char text[24];
  snprintf(text, sizeof text, "%ld", part);
  setenv(pclscope::record::part_variable, text, 1);
  return static_cast<unsigned>(part);
}

void note_start(const char* token) {
  Board* board = open_board(token);
  if (board == nullptr) return;  // the job runs without the tool's knowledge of it; the aggregator says so
  pclscope::record::note_surroundings(*board);
  const unsigned index = board->started.fetch_add(1);
  board->parts[choose_part(index)].started.fetch_add(1);
  if (index < pclscope::record::board_pids) board->pid[index].store(static_cast<unsigned>(getpid()));
  board->change.fetch_add(1);
  munmap(board, sizeof(Board));
}

// The launcher counts the tool's rank too; programs that look at these see the application's own numbers.
void subtract(const char* variable, long count) {
  const char* text = getenv(variable);
  if (text == nullptr) return;
  char* end = nullptr;
  const long value = strtol(text, &end, 10);
  if (end == text || *end != 0 || value <= count) return;
  char out[32];
  snprintf(out, sizeof out, "%ld", value - count);
  setenv(variable, out, 1);
}

void preload(const char* library) {
  const char* before = getenv("LD_PRELOAD");
  if (before == nullptr || *before == 0) {
    setenv("LD_PRELOAD", library, 1);
    return;
  }
  const size_t size = strlen(library) + strlen(before) + 2;
  char* both = static_cast<char*>(malloc(size));
  if (both == nullptr) return;
  snprintf(both, size, "%s:%s", library, before);
  setenv("LD_PRELOAD", both, 1);
  free(both);
}

// `env LD_PRELOAD=X PROGRAM` and `env -u LD_PRELOAD PROGRAM` would leave the library out: it joins X, or stays alone.
void preload_through_env(char** arguments, const char* library) {
  const char* slash = strrchr(*arguments, '/');
  if (strcmp(slash != nullptr ? slash + 1 : *arguments, "env") != 0) return;
  static char nothing[] = "PCLSCOPE_NOTHING", unset[] = "-uPCLSCOPE_NOTHING";
  constexpr char name[] = "LD_PRELOAD", setting[] = "LD_PRELOAD=";
  for (char** a = arguments + 1; *a != nullptr; ++a) {
    if (strncmp(*a, setting, sizeof setting - 1) == 0) {
      const char* others = *a + sizeof setting - 1;
      const size_t size = strlen(*a) + strlen(library) + 2;
      char* both = static_cast<char*>(malloc(size));
      if (both == nullptr) return;
      snprintf(both, size, "%s%s%s%s", setting, library, *others != 0 ? ":" : "", others);
      *a = both;
    } else if (strcmp(*a, "-u") == 0 || strcmp(*a, "--unset") == 0) {
      if (*++a == nullptr) return;
      if (strcmp(*a, name) != 0) continue;
      *a = nothing;
      setenv(name, library, 1);
    } else if ((strncmp(*a, "-u", 2) == 0 && strcmp(*a + 2, name) == 0) || strcmp(*a, "--unset=LD_PRELOAD") == 0) {
      *a = unset;
      setenv(name, library, 1);
    } else if (**a != '-' && strchr(*a, '=') == nullptr) {
      return;  // the program: what follows is its own
    }
  }
}

// Launchers, batch systems and users signal all processes of a job, to tell the application to checkpoint or to end.
// The tool's rank must neither die of it nor act on it: a launcher ends the job when one of its processes does. Ignored
// signals stay so over exec, so there is no moment in which one could come through. Left alone: what the process itself
// causes, what stops it and lets it go on, and what children send.
void ignore_signals() {
  for (int number = 1; number <= SIGRTMAX; ++number) {
    switch (number) {
      case SIGSEGV:
      case SIGBUS:
      case SIGILL:
      case SIGFPE:
      case SIGABRT:
      case SIGSYS:
      case SIGTRAP:
      case SIGCHLD:
      case SIGCONT:
      case SIGTSTP:
      case SIGTTIN:
      case SIGTTOU: break;
      default: signal(number, SIG_IGN);  // KILL and STOP are refused, and so are numbers that libc keeps
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool tool = argc > 1 && strcmp(argv[1], "--aggregator") == 0;
  const char* mpi = tool && argc > 3 && strcmp(argv[2], "--mpi") == 0 ? argv[3] : nullptr;
  char** program = argv + (mpi != nullptr ? 4 : tool ? 2 : 1);
  if (*program == nullptr) {
    fputs("pclscope-rank: no program given; it is started by `pclscope run`\n", stderr);
    return 2;
  }
  if (!tool) {
    if (const char* token = getenv(pclscope::record::job_variable)) note_start(token);
    if (const char* tools = getenv("PCLSCOPE_TOOL_RANKS")) {
      subtract("OMPI_COMM_WORLD_SIZE", strtol(tools, nullptr, 10));
      subtract("OMPI_COMM_WORLD_LOCAL_SIZE", aggregators());
    }
    if (const char* given = getenv("PCLSCOPE_PRELOAD")) {
      const char* library = pclscope::without_blanks(given);
      preload(library);
      preload_through_env(program, library);
    }
  } else {
    ignore_signals();
    // Buffers of MPICH over UCX for what others on this node send us, which is next to nothing: 0.7 MB of /dev/shm
    // instead of 4.2.
    setenv("UCX_POSIX_RX_BUFS_GROW", "16", 0);
    if (mpi != nullptr) pclscope::take_mpi(mpi);
    unsetenv("LD_PRELOAD");  // another tool's work in MPI_Init and MPI_Finalize is the application's, not ours
  }
  execvp(*program, program);
  const int reason = errno;
  fprintf(stderr, "pclscope: cannot start '%s': %s\n", *program, strerror(reason));
  return reason == ENOENT ? 127 : 126;
}
