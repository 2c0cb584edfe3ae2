// A ZeroMQ socket without our code around it: for what a peer that is not ours may send.
#pragma once

#include <zmq.h>

#include <catch2/catch.hpp>
#include <string>

namespace pclscope::testing {

class RawSocket {
 public:
  RawSocket(int type, const std::string& connect_to) : context_(zmq_ctx_new()), socket_(zmq_socket(context_, type)) {
    const int no_linger = 0;
    zmq_setsockopt(socket_, ZMQ_LINGER, &no_linger, sizeof no_linger);
    REQUIRE(zmq_connect(socket_, connect_to.c_str()) == 0);
  }
  ~RawSocket() {
    zmq_close(socket_);
    zmq_ctx_term(context_);
  }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;
  void send(const void* bytes, std::size_t size, int flags = 0) { zmq_send(socket_, bytes, size, flags); }

 private:
  void* context_;
  void* socket_;
};

}  // namespace pclscope::testing
