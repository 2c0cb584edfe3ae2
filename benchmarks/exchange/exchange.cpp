// How fast a dump becomes an OTF2 archive, and an archive a dump (processor time of `pclscope export` and `import`),
// and with how much memory. A ring of 16 ranks, whose every message is nonblocking on both sides: 9 events per message.
// The imported dump must have all messages, in pairs as they were. Exit status 1 when it has not, or a limit is broken:
// 1 M events/s, 2 GiB.
//
//   exchange_benchmark [--quick | --messages N] [FOLDER]
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"
#include "interpose/record/functions.hpp"

using namespace pclscope;

namespace {

constexpr std::int32_t ranks = 16;
constexpr std::uint64_t events_per_message = 9;
constexpr std::int64_t iteration_ns = 100'000;

std::uint16_t number(record::Function function) { return static_cast<std::uint16_t>(function); }

Message message(std::int32_t source, std::int64_t begin) {
  Message m;
  m.comm = record::world_comm_id;
  m.source = source;
  m.destination = (source + 1) % ranks;
  m.tag = 3;
  m.flags = record::flag::nonblocking;
  m.bytes = 4096;
  m.send_begin = begin + 300;
  m.send_end = begin + 600;
  m.recv_post = begin;
  m.recv_wait = begin + 700;
  m.recv_end = begin + 20'000 + source;
  return m;
}

bool make_dump(const std::string& path, std::uint64_t messages) {
  store::WriterOptions options;
  options.budget_bytes = 0;
  auto writer = store::Writer::create(path, options);
  if (!writer) return false;
  const std::uint64_t iterations = messages / ranks;
  std::vector<Message> sent;
  std::vector<MpiCall> calls;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    const std::int64_t begin = static_cast<std::int64_t>(i) * iteration_ns;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      sent.push_back(message(rank, begin));
      const Message& taken = message((rank + ranks - 1) % ranks, begin);
      MpiCall call;
      call.rank = rank;
      const auto add = [&](record::Function function, std::int64_t from, std::int64_t to) {
        call.function = number(function);
        call.begin = from;
        call.end = to;
        calls.push_back(call);
      };
      add(record::Function::Irecv, begin, begin + 200);
      add(record::Function::Isend, begin + 300, begin + 600);
      add(record::Function::Waitall, begin + 700, taken.recv_end);
    }
    if (sent.size() < 100'000 && i + 1 < iterations) continue;
    if (!(*writer)->append(std::span<const Message>(sent)) || !(*writer)->append(std::span<const MpiCall>(calls)))
      return false;
    sent.clear();
    calls.clear();
  }
  Snapshot s;
  s.application.ranks = ranks;
  s.application.nodes = {"node"};
  s.application.node_of_rank.assign(ranks, 0);
  s.duration_s = static_cast<double>(iterations) * iteration_ns * 1e-9;
  s.ranks.resize(ranks);
  for (std::int32_t rank = 0; rank < ranks; ++rank) s.ranks[static_cast<std::size_t>(rank)].rank = rank;
  return (*writer)->summarize(s) && (*writer)->close();
}

struct Spent {
  bool done = false;
  double seconds = 0, mib = 0;
};

Spent run(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execv(arguments[0], arguments.data());
    std::_Exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child) return {};
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  Spent spent;
  spent.done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  spent.seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);  // with its children that it waited for
  spent.mib = static_cast<double>(usage.ru_maxrss) / 1024;            // the largest of them
  return spent;
}

bool same(const std::string& path, std::uint64_t messages) {
  const auto reader = store::Reader::open(path);
  if (!reader || (*reader)->message_count() != messages) return false;
  constexpr std::uint64_t at_once = 100'000;
  for (std::uint64_t first = 0; first < messages; first += at_once) {
    const auto rows = (*reader)->messages(first, at_once);
    if (!rows) return false;
    for (const Message& m : *rows) {
      const Message expected = message(m.source, m.recv_post / iteration_ns * iteration_ns);
      if (m.destination != expected.destination || m.bytes != expected.bytes || m.tag != expected.tag ||
          m.send_begin != expected.send_begin || m.send_end != expected.send_end || m.recv_post != expected.recv_post ||
          m.recv_wait != expected.recv_wait || m.recv_end != expected.recv_end)
        return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t messages = 5'000'000;
  std::string folder = std::filesystem::temp_directory_path();
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--quick")) messages = 200'000;
    else if (!std::strcmp(argv[i], "--messages") && i + 1 < argc)
      messages = static_cast<std::uint64_t>(std::atof(argv[++i]));
    else if (argv[i][0] != '-') folder = argv[i];
    else return std::fprintf(stderr, "exchange_benchmark [--quick | --messages N] [FOLDER]\n"), 2;
  }
  messages = std::max<std::uint64_t>(1, messages / ranks) * ranks;
  const std::string pclscope =
      (std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "bin" / "pclscope").string();
  const std::filesystem::path here = std::filesystem::path(folder) / ("exchange-" + std::to_string(::getpid()));
  std::filesystem::create_directory(here);
  const std::string dump = here / "run.h5", archive = here / "run.otf2", again = here / "again.h5";
  bool right = make_dump(dump, messages);
  const double events = static_cast<double>(messages * events_per_message);
  const auto told = [&](const char* what, const Spent& spent) {
    std::printf("%s  %5.1f M events  %5.2f M events/s  %5.0f MiB\n", what, events / 1e6, events / spent.seconds / 1e6,
                spent.mib);
    if (!spent.done || events / spent.seconds < 1e6 || spent.mib > 2048) right = false;
  };
  if (right) told("export", run({pclscope, "export", dump, "--to", "otf2", "-o", archive}));
  if (right) told("import", run({pclscope, "import", archive, "-o", again, "--keep", "all", "--budget", "100GB"}));
  if (right && !same(again, messages)) {
    std::printf("WRONG: the imported dump has not the messages that were exported\n");
    right = false;
  }
  std::filesystem::remove_all(here);
  return right ? 0 : 1;
}
