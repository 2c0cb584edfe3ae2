// A viewer's end of a publisher's sockets.
#pragma once

#include <memory>
#include <string>

#include "analysis/values/result.hpp"
#include "analysis/wire/frame_link.hpp"

namespace pclscope::wire {

// Does not wait for the other side to be there. Fails with bad_argument; over tcp also when the key file is missing
// (not_found), open to others (not_permitted) or damaged.
Result<std::unique_ptr<FrameLink>> open_sockets(const std::string& endpoint);

}  // namespace pclscope::wire
