// What `pclscope relay` does: it speaks with a job for somebody at the other end of its standard input and output.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "analysis/wire/frame_link.hpp"

namespace pclscope::reach {

struct RelayedRun {
  std::unique_ptr<wire::FrameLink> link;
  std::string job, node;
  std::function<std::string()>
      why_over;  // one line once the job has gone, else empty; asked some times a second; may be none
};

// Until the other side goes, or the job. The exit status: 0, or 1 when the job was lost.
int serve_relay(int input, int output, RelayedRun run);

}  // namespace pclscope::reach
