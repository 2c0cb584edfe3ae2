// The oracle of matching. Ranks send each other messages in a random but planned way and receive them with every kind
// of receive MPI has: blocking, nonblocking completed out of order, persistent, matched probes; source and tag given or
// wild; on six communicators. Every payload says who sent it and the how-manieth send of that process it is, and every
// receiver writes down what it really got.
// Arguments: messages at least (10000), seed (1), directory for the oracle ("-": none).
// Written per rank R, one line each:
//   DIRECTORY/sent.R      index label destination tag bytes            index: dense number of sends of this process
//   DIRECTORY/received.R  index label source tag bytes sent_index      index: dense number of receives in posting order
//   DIRECTORY/comms.R     label member member ...                      world ranks
// On paper: messages = n * 64 * ceil(asked / (64 n)), every one received once, nothing unmatched.
// Free of deadlock because a receive is posted only if it is sure to find a message: see possible() in storm_receiver.
#include <cstdio>
#include <cstring>
#include <fstream>

#include "storm_receiver.hpp"

namespace storm {
namespace {

struct Sent {
  std::string label;
  int destination;
  int tag;
  int bytes;
};

class Storm {
 public:
  Storm(std::uint64_t seed, int rank, int size) : seed_(seed), rank_(rank), size_(size), receiver_(seed, rank) {
    comms_.open(rank, size);
    remember_communicators();
  }

  void round(int number) {
    if (number > 0 && number % 16 == 0) {
      comms_.renew_duplicate(number / 16);
      remember_communicators();
    }
    std::vector<Planned> mine;
    Expected expected(size_);
    for (const Planned& message : plan_round(seed_, number, size_)) {
      if (message.source == rank_) mine.push_back(message);
      if (message.destination == rank_) expected.add(message.slot, message.source, message.tag);
    }
    receiver_.begin(&comms_, std::move(expected));
    std::vector<MPI_Request> requests;
    std::vector<std::vector<char>> buffers;
    for (const Planned& message : mine) {
      buffers.push_back(payload(message));
      requests.push_back(start(message, buffers.back()));
      receiver_.while_sending();
    }
    receiver_.finish();  // may block: all sends of this rank are under way
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);  // no message of the next round meets a wildcard of this one
  }

  void write(const std::string& directory) const {
    const std::string rank = std::to_string(rank_);
    std::ofstream sent(directory + "/sent." + rank), comms(directory + "/comms." + rank);
    for (std::size_t i = 0; i < sent_.size(); ++i)
      sent << i << ' ' << sent_[i].label << ' ' << sent_[i].destination << ' ' << sent_[i].tag << ' ' << sent_[i].bytes
           << '\n';
    comms << known_;
    receiver_.write(directory + "/received." + rank);
    REQUIRE(sent.flush() && comms.flush());
  }

  void close() { comms_.close(); }
  std::size_t sent() const { return sent_.size(); }
  const Receiver& receiver() const { return receiver_; }

 private:
  void remember_communicators() {
    for (const Channelled& c : comms_.slot) {
      if (known_.find(c.label + ' ') == 0 || known_.find('\n' + c.label + ' ') != std::string::npos) continue;
      known_ += c.label;
      for (const int member : c.members) known_ += ' ' + std::to_string(member);
      known_ += '\n';
    }
  }

  std::vector<char> payload(const Planned& message) {
    std::vector<char> bytes(static_cast<std::size_t>(message.bytes), static_cast<char>(message.tag));
    const Header header{rank_, message.slot, message.tag, message.bytes, static_cast<std::int64_t>(sent_.size())};
    std::memcpy(bytes.data(), &header, sizeof header);
    sent_.push_back({comms_.slot[message.slot].label, message.destination, message.tag, message.bytes});
    return bytes;
  }

  MPI_Request start(const Planned& message, const std::vector<char>& buffer) {
    const Channelled& c = comms_.slot[message.slot];
    int peer = 0;
    while (c.peers[static_cast<std::size_t>(peer)] != message.destination) ++peer;
    MPI_Request request;
    auto* const send = sent_.size() % 7 ? MPI_Isend : MPI_Issend;
    send(buffer.data(), message.bytes, MPI_BYTE, peer, message.tag, c.comm, &request);
    return request;
  }

  std::uint64_t seed_;
  int rank_, size_;
  Communicators comms_;
  Receiver receiver_;
  std::vector<Sent> sent_;
  std::string known_;  // the lines of DIRECTORY/comms.R
};

}  // namespace
}  // namespace storm

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long asked = argument(argc, argv, 1, 10000);
  const auto seed = static_cast<std::uint64_t>(argument(argc, argv, 2, 1));
  const std::string directory = argc > 3 ? argv[3] : "-";
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  REQUIRE(size >= 2);
  {
    storm::Storm storm(seed, rank, size);
    const int rounds = static_cast<int>((asked + size * storm::messages_per_rank - 1) / (size * storm::messages_per_rank));
    for (int i = 0; i < rounds; ++i) storm.round(i);
    if (directory != "-") storm.write(directory);
    const std::uint64_t sent = sum_over_ranks(storm.sent()), received = sum_over_ranks(storm.receiver().received());
    const std::uint64_t checksum = sum_over_ranks(storm.receiver().checksum());
    REQUIRE(sent == received && sent == static_cast<std::uint64_t>(size) * storm::messages_per_rank * rounds);
    if (rank == 0)
      std::printf("wildcard_storm: ranks %d messages %llu checksum %016llx\n", size,
                  static_cast<unsigned long long>(sent), static_cast<unsigned long long>(checksum));
    storm.close();
  }
  MPI_Finalize();
}
