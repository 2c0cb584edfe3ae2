// Whether ranks that others wait for have more to do because their part of the data is larger: more messages, or more
// bytes, than other ranks. Not because of where they stand in the pattern: the first rank of a pipeline, the root of a
// tree and the centre of a star send more than others, but not more to each of those they send to.
#pragma once

#include <cstdint>
#include <vector>

namespace pclscope::attribute {

struct Load {  // of a rank, in some time
  std::int32_t rank = 0;
  double sent = 0, received = 0;  // messages or bytes
  double partners = 0;            // that it sends to; 0: not known
  double waited_s = 0;
};

bool have_more(const std::vector<Load>& all, const std::vector<std::int32_t>& named);

}  // namespace pclscope::attribute
