// Damaged questions over a real socket, while a viewer that speaks sense is served.
#include <zmq.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <random>

#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/frame.hpp"
#include "analysis/wire/publisher.hpp"
#include "analysis/wire/subscriber.hpp"
#include "tests/analysis/discovery/private_directory.hpp"
#include "tests/analysis/wire/damaged_frames.hpp"
#include "tests/analysis/wire/random_dag.hpp"
#include "tests/analysis/wire/random_snapshot.hpp"
#include "tests/analysis/wire/serving.hpp"
#include "tests/patience.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::wire;
using namespace std::chrono_literals;
using pclscope::testing::Bytes;
using pclscope::testing::FrameDamage;
using pclscope::testing::PrivateDirectory;
using pclscope::testing::random_dag;
using pclscope::testing::RandomSnapshot;
using pclscope::testing::Serving;

namespace {

// A viewer without manners: sends frames as they are, fetches answers now and then, or never.
class RawPeer {
 public:
  explicit RawPeer(const std::string& address, int kind = ZMQ_DEALER)
      : context_(zmq_ctx_new()), socket_(zmq_socket(context_, kind)) {
    const int none = 0;
    zmq_setsockopt(socket_, ZMQ_LINGER, &none, sizeof none);
    REQUIRE(zmq_connect(socket_, address.c_str()) == 0);
  }
  ~RawPeer() {
    zmq_close(socket_);
    zmq_ctx_term(context_);
  }
  RawPeer(const RawPeer&) = delete;
  bool send(const Bytes& frame, bool more = false) {
    return zmq_send(socket_, frame.data(), frame.size(), ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) >= 0;
  }
  void fetch() {
    char buffer[64];
    while (zmq_recv(socket_, buffer, sizeof buffer, ZMQ_DONTWAIT) >= 0) {}
  }

 private:
  void* context_;
  void* socket_;
};

Bytes copy(std::span<const std::uint8_t> frame) { return {frame.begin(), frame.end()}; }

}  // namespace

TEST_CASE("thousands of damaged questions are dropped or answered, and a good viewer gets all its answers") {
  const PrivateDirectory directory;
  const std::string path = directory.path() + "/job";
  auto bound = Publisher::bind("ipc://" + path);
  REQUIRE(bound);
  Serving job(std::move(*bound), [](const DagQuestion& question) -> Result<Dag> {
    if (question.ranks.size() > limit::question_ranks || question.most_messages > limit::dag_messages) std::abort();
    return random_dag(static_cast<std::uint64_t>(question.region), 20);
  });
  const Snapshot sent = RandomSnapshot(17, 20).make();
  job.publish(sent);
  auto viewer = Subscriber::connect("ipc://" + path);
  REQUIRE(viewer);
  REQUIRE((*viewer)->ask(test::patience));

  Encoder encoder;
  std::vector<Bytes> whole = {copy(encoder.question_newest(1)),
                              copy(encoder.question_dag(2, {.region = 3, .ranks = {}})),
                              copy(encoder.question_dag(3, {.region = -1, .ranks = {1, 2, 3, 9, 11}})),
                              copy(encoder.answer(4, AnswerStatus::here)), copy(encoder.snapshot({}))};
  std::mt19937_64 random(20'261);
  FrameDamage damage(random());
  RawPeer polite(("ipc://" + path + ".ask")), deaf("ipc://" + path + ".ask"),
      to_the_wrong_door("ipc://" + path + ".pub", ZMQ_SUB);
  RawPeer unwanted("ipc://" + path + ".pub", ZMQ_XSUB);  // whatever it says goes where subscriptions go
  for (int i = 0; i < test::thinned(20'000, 5'000); i++) {
    const Bytes frame = damage.of(whole[random() % whole.size()], whole[random() % whole.size()]);
    RawPeer& peer = i % 2 ? polite : deaf;
    const bool parts = random() % 20 == 0;
    if (peer.send(frame, parts) && parts) peer.send(whole[random() % whole.size()]);
    unwanted.send(frame);
    if (i % 50 == 0) polite.fetch();
    if (i % 500 != 0) continue;
    const auto asked = (*viewer)->ask(test::patience);
    if (!asked) FAIL(asked.error().message);
    REQUIRE(*asked == sent);
    const auto dag = (*viewer)->ask_dag({.region = 5, .ranks = {}}, test::patience);
    if (!dag && dag.error().message.find("ask again later") == std::string::npos)
      FAIL_CHECK("look " << i << ": " << dag.error().message);
  }
  CHECK(job.malformed() > 1'000);
  const auto last = (*viewer)->next(test::patience);
  REQUIRE(last);
  CHECK(*last);
}

TEST_CASE("a question larger than any question ends its connection, not the others") {
  const PrivateDirectory directory;
  const std::string path = directory.path() + "/job";
  auto bound = Publisher::bind("ipc://" + path);
  REQUIRE(bound);
  Serving job(std::move(*bound));
  job.publish(RandomSnapshot(19, 20).make());
  auto viewer = Subscriber::connect("ipc://" + path);
  REQUIRE(viewer);
  RawPeer peer("ipc://" + path + ".ask");
  for (const std::size_t size : {limit::question_bytes + 1, std::size_t{1} << 20, std::size_t{64} << 20}) {
    peer.send(Bytes(size, 1));
    const auto asked = (*viewer)->ask(test::patience);
    if (!asked) FAIL(asked.error().message);
  }
}
