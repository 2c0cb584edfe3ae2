// store_benchmark [--quick] [DUMP]: bytes per message in a dump, messages appended and read per second, and how long a
// flush takes; of messages like LAMMPS's, of random ones, and of those of a real dump, with its single calls. All that
// was written is read back and compared. Of the first also how long a thousandth of the run takes to find, beside
// looking at all rows, which must find the same.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"

namespace {

using namespace pclscope;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// 3-D halo of 8 ranks as LAMMPS sends it: Irecv, Send, Wait in six directions, sizes that change when atoms move to
// other ranks, noise of some microseconds, and now and then a rank that is not scheduled for milliseconds.
std::vector<Message> like_lammps(std::size_t count) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> short_noise(1 / 20e3), long_noise(1 / 3e6);
  std::vector<Message> messages;
  std::vector<std::int64_t> clock(8, 1'000'000'000);
  std::vector<std::uint64_t> bytes(48);
  for (std::size_t step = 0; messages.size() < count; step++) {
    if (step % 40 == 0) {
      for (std::uint64_t& size : bytes) size = 36'000 + random() % 800 * 24;
    }
    for (std::uint32_t direction = 0; direction < 6; direction++) {
      for (std::size_t i = 0; i < 8; i++) {
        const auto r = static_cast<std::int32_t>((i + step) % 8);
        const std::int32_t to = r ^ 1 << direction / 2;
        Message m;
        m.comm = 1;
        m.source = r;
        m.destination = to;
        m.flags = random() % 2 ? 1u << 28 : 0;
        m.bytes = bytes[direction * 8 + static_cast<std::size_t>(r)];
        const auto noise = [&](int one_in) {
          return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(one_in) == 0 ? long_noise(random)
                                                                                              : short_noise(random));
        };
        m.recv_post = clock[static_cast<std::size_t>(to)] + noise(50);
        m.send_begin = clock[static_cast<std::size_t>(r)] + noise(20);
        m.send_end = m.send_begin + 1000 + noise(10);
        m.recv_wait = m.recv_post + 2000 + noise(10);
        m.recv_end = std::max(m.recv_wait, m.send_begin + 3000) + 20 + (random() % 4 == 0 ? noise(50) : 0);
        m.send_site = 10 + direction / 2;
        m.recv_site = 20 + direction / 2;
        messages.push_back(m);
      }
      for (const Message* m = &messages.back() - 7; m <= &messages.back(); m++) {
        auto& now = clock[static_cast<std::size_t>(m->destination)];
        now = std::max(now, std::max(m->recv_end, now));
      }
    }
    for (std::int64_t& now : clock) now += 2'000'000 + static_cast<std::int64_t>(short_noise(random));
  }
  messages.resize(count);
  return messages;
}

std::vector<Message> random_messages(std::size_t count) {
  std::mt19937_64 random(2);
  const auto any = [&] { return random() >> random() % 64; };
  const auto time = [&] { return static_cast<std::int64_t>(random()); };
  std::vector<Message> messages(count);
  for (Message& m : messages) {
    m = {any(),
         static_cast<std::int32_t>(any()),
         static_cast<std::int32_t>(any()),
         static_cast<std::int32_t>(any()),
         static_cast<std::uint32_t>(any()),
         any(),
         time(),
         time(),
         time(),
         time(),
         time(),
         any(),
         any()};
  }
  return messages;
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "store_benchmark: %s\n", what.c_str());
  std::exit(1);
}

template <class Result>
auto must(Result result) {
  if (!result) fail(result.error().message);
  return std::move(*result);
}

void must_do(const Status& status) {
  if (!status) fail(status.error().message);
}

// Messages that begin or end in a thousandth of the run.
void find_period(const store::Reader& reader, const std::vector<Message>& messages) {
  const auto [first, last] = std::minmax_element(
      messages.begin(), messages.end(), [](const Message& a, const Message& b) { return a.send_begin < b.send_begin; });
  const std::int64_t length = last->send_begin - first->send_begin, begin = first->send_begin + length / 2,
                     end = begin + length / 1000;
  const auto inside = [&](const Message& m) {
    return (m.send_begin >= begin && m.send_begin < end) || (m.recv_end >= begin && m.recv_end < end);
  };
  const auto found_in = [&](const std::vector<store::RowRange>& ranges, double& seconds) {
    const auto looking = Clock::now();
    std::vector<Message> found;
    for (const store::RowRange& range : ranges) {
      for (std::uint64_t done = 0, piece = 1 << 16; done < range.count; done += piece) {
        for (const Message& m : must(reader.messages(range.first + done, std::min(piece, range.count - done))))
          if (inside(m)) found.push_back(m);
      }
    }
    seconds = seconds_since(looking);
    return found;
  };
  double period_s = 0, all_s = 0;
  const auto found = found_in(reader.messages_within(begin, end), period_s);
  if (found.empty() || found != found_in({{0, reader.message_count()}}, all_s))
    fail("messages of a period are missing");
  std::printf(
      "             a thousandth of the run: %zu messages in %.2f ms; by looking at all %.0f ms (%.0f times as long)\n",
      found.size(), period_s * 1e3, all_s * 1e3, all_s / period_s);
}

// Rows come as the pipeline gives them, a few hundred at a time; a flush per 100,000.
void measure(const char* name, const std::vector<Message>& messages, std::uint64_t times, bool in_order = false) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("store_benchmark-" + std::to_string(::getpid()) + ".h5");
  store::WriterOptions options;
  options.compact_below_bytes = 0;
  auto writer = must(store::Writer::create(path, options));
  const std::uint64_t empty = writer->file_bytes();
  double append_cpu = 0, worst_flush = 0, flushes = 0, flush_sum = 0;
  std::uint64_t since_flush = 0;
  for (std::uint64_t round = 0; round < times; round++) {
    for (std::size_t at = 0; at < messages.size(); at += 500) {
      const double began = cpu_seconds();
      const auto rows =
          std::span<const Message>(messages).subspan(at, std::min<std::size_t>(500, messages.size() - at));
      must_do(writer->append(rows));
      append_cpu += cpu_seconds() - began;
      if ((since_flush += rows.size()) < 100'000) continue;
      since_flush = 0;
      const auto flushing = Clock::now();
      must_do(writer->flush());
      const double took = seconds_since(flushing);
      worst_flush = std::max(worst_flush, took), flush_sum += took, flushes++;
    }
  }
  const std::uint64_t tails = writer->file_bytes();
  must_do(writer->close());
  writer.reset();
  const double rows = static_cast<double>(messages.size()) * static_cast<double>(times);
  const auto reading = Clock::now();
  const auto reader = must(store::Reader::open(path));
  if (reader->message_count() != messages.size() * times) fail("rows are missing");
  for (std::uint64_t at = 0, piece = 1 << 16; at < reader->message_count(); at += piece) {
    const auto found = must(reader->messages(at, piece));
    for (std::size_t i = 0; i < found.size(); i++) {
      if (found[i] != messages[(at + i) % messages.size()]) fail("row " + std::to_string(at + i) + " differs");
    }
  }
  const double read_s = seconds_since(reading);
  std::printf(
      "%-12s %10.0f messages: %6.2f bytes each (file %.1f MB, %.2f MB of it before the first); %5.2f M/s appended "
      "(CPU), "
      "%5.2f M/s read and compared; flush %.1f ms mean, %.1f ms worst\n",
      name, rows, static_cast<double>(tails - empty) / rows,
      static_cast<double>(std::filesystem::file_size(path)) / 1e6, static_cast<double>(empty) / 1e6,
      rows / append_cpu / 1e6, rows / read_s / 1e6, flushes > 0 ? flush_sum / flushes * 1e3 : 0, worst_flush * 1e3);
  if (in_order && times == 1) find_period(*reader, messages);
  std::filesystem::remove(path);
}

// The same of single MPI calls, appended again and again.
void measure_calls(const std::vector<MpiCall>& calls, std::uint64_t times) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("store_benchmark-" + std::to_string(::getpid()) + ".h5");
  store::WriterOptions options;
  options.compact_below_bytes = 0;
  auto writer = must(store::Writer::create(path, options));
  const std::uint64_t empty = writer->file_bytes();
  const double began = cpu_seconds();
  for (std::uint64_t round = 0; round < times; round++)
    for (std::size_t at = 0; at < calls.size(); at += 4096)
      must_do(
          writer->append(std::span<const MpiCall>(calls).subspan(at, std::min<std::size_t>(4096, calls.size() - at))));
  const double append_cpu = cpu_seconds() - began;
  const std::uint64_t written = writer->file_bytes();
  must_do(writer->close());
  writer.reset();
  const double rows = static_cast<double>(calls.size()) * static_cast<double>(times);
  const auto reading = Clock::now();
  const auto reader = must(store::Reader::open(path));
  if (reader->call_count() != calls.size() * times) fail("calls are missing");
  for (std::uint64_t at = 0, piece = 1 << 16; at < reader->call_count(); at += piece) {
    const auto found = must(reader->calls(at, piece));
    for (std::size_t i = 0; i < found.size(); i++)
      if (found[i] != calls[(at + i) % calls.size()]) fail("call " + std::to_string(at + i) + " differs");
  }
  std::printf("%-12s %10.0f calls: %6.2f bytes each; %5.2f M/s appended (CPU), %5.2f M/s read and compared\n", "real",
              rows, static_cast<double>(written - empty) / rows, rows / append_cpu / 1e6,
              rows / seconds_since(reading) / 1e6);
  std::filesystem::remove(path);
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = false;
  std::string dump;
  for (int i = 1; i < argc; i++) {
    if (std::strcmp(argv[i], "--quick") == 0) quick = true;
    else dump = argv[i];
  }
  const std::size_t count = quick ? 100'000 : 1'000'000;
  measure("like LAMMPS", like_lammps(quick ? count : 4 * count), 1, true);
  measure("random", random_messages(count / 2), 1);
  if (dump.empty()) return 0;
  const auto reader = must(store::Reader::open(dump));
  const std::vector<Message> messages = must(reader->messages(0, reader->message_count()));
  if (messages.empty()) fail("no messages in " + dump);
  const std::vector<MpiCall> calls = must(reader->calls(0, reader->call_count()));
  if (!calls.empty()) measure_calls(calls, quick ? 1 : std::max<std::uint64_t>(1, 4'000'000 / calls.size()));
  measure("real", messages, quick ? 1 : std::max<std::uint64_t>(1, 4'000'000 / messages.size()));
  std::printf("%s: %.2f bytes of file per message\n", dump.c_str(),
              static_cast<double>(std::filesystem::file_size(dump)) / static_cast<double>(messages.size()));
}
