#include "analysis/wire/gatekeeper.hpp"

#include <cstring>
#include <string_view>

namespace pclscope::wire {
namespace {

constexpr int requests_per_call = 64;
constexpr int request_frames = 7;  // version, request id, domain, address, identity, mechanism, credentials

bool equals(ZmqMessage& frame, std::string_view text) {
  const auto bytes = frame.bytes();
  return bytes.size() == text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

bool Gatekeeper::open(const ZmqContext& context, const std::string& client_public) {
  if (!zmq_z85_decode(admitted_key_.data(), client_public.c_str())) return false;
  socket_ = ZmqSocket(context, ZMQ_REP);
  return socket_ && socket_.set(ZMQ_LINGER, 0) && zmq_bind(socket_.get(), "inproc://zeromq.zap.01") == 0;
}

void Gatekeeper::serve() {
  for (int served = 0; socket_ && served < requests_per_call; served++) {
    ZmqMessage frames[request_frames];
    int received = 0;
    while (received < request_frames && socket_.receive(frames[received])) {
      if (!frames[received++].more()) break;
    }
    if (received == 0) return;
    socket_.skip_rest(frames[received - 1]);
    ZmqMessage& key = frames[6];
    const bool admitted = received == request_frames && equals(frames[5], "CURVE") &&
                          key.bytes().size() == admitted_key_.size() &&
                          std::memcmp(key.bytes().data(), admitted_key_.data(), admitted_key_.size()) == 0;
    answer(frames[1], admitted);
  }
}

void Gatekeeper::answer(ZmqMessage& request_id, bool admitted) {
  socket_.send(as_bytes("1.0"), ZMQ_SNDMORE);
  socket_.send(request_id.bytes(), ZMQ_SNDMORE);
  socket_.send(as_bytes(admitted ? "200" : "400"), ZMQ_SNDMORE);
  socket_.send(as_bytes(admitted ? "OK" : "unknown key"), ZMQ_SNDMORE);
  socket_.send(as_bytes("user"), ZMQ_SNDMORE);
  socket_.send({});
}

}  // namespace pclscope::wire
