// How the anchors of a job's nodes find each other.
#pragma once

#include <cstdint>
#include <memory>

#include "analysis/aggregator/frame_socket.hpp"
#include "analysis/aggregator/options.hpp"
#include "analysis/aggregator/relay.hpp"
#include "analysis/collect/tick_clock.hpp"

namespace pclscope::aggregator {

// Collective over all anchors. Null when the launcher did not start as many ranks as the options say. `clock`: settled;
// `first_ticks`: as for agree_on_origin().
std::unique_ptr<Relay> open_relay(const Options& options, FrameSocket& socket, const collect::TickClock& clock,
                                  std::uint64_t first_ticks);

}  // namespace pclscope::aggregator
