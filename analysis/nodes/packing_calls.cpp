// MPI calls, sorted by thread, in 10 to 16 bytes each: rank, thread, function with the ending below it, partner, begin
// minus the last end, duration, time outside minus (begin minus the last end), communicator, bytes, and site minus the
// last one. All differences are modulo 2^64: any values come back.
#include "analysis/nodes/packing_bytes.hpp"

namespace pclscope::nodes::packing {
namespace {

template <class Io, class Call>
void pass_call(Io& io, Call& c, MpiCall& last, CommNumbers& comms) {
  io.step(c.rank, last.rank);
  io.step(c.thread, last.thread);
  std::uint32_t what = 0;
  if constexpr (Io::writing) what = std::uint32_t{c.function} << 1 | (c.ending == CallEnding::unseen);
  io.number(what);
  if constexpr (!Io::writing) {
    if (what >> 17 != 0) return io.fail();
    c.function = static_cast<std::uint16_t>(what >> 1);
    c.ending = what & 1 ? CallEnding::unseen : CallEnding::returned;
  }
  io.number(c.peer);
  const auto before = static_cast<std::uint64_t>(last.end);
  io.step(c.begin, last.end);
  auto gap = static_cast<std::int64_t>(static_cast<std::uint64_t>(c.begin) - before);
  io.step(c.end, last.end);  // which is the begin now
  io.step(c.outside, gap);
  comms.pass(io, c.comm);
  io.number(c.bytes);
  io.step(c.site, last.site);
}

constexpr std::size_t least_call = 10;  // bytes

}  // namespace

void put_calls(Writer& out, const std::vector<MpiCall>& calls) {
  MpiCall last;
  CommNumbers comms;
  out.list(calls, least_call, [&](const MpiCall& call) { pass_call(out, call, last, comms); });
}

void get_calls(Reader& in, std::vector<MpiCall>& calls) {
  MpiCall last;
  CommNumbers comms;
  in.list(calls, least_call, [&](MpiCall& call) { pass_call(in, call, last, comms); });
}

}  // namespace pclscope::nodes::packing
