#include "interpose/process/clock.hpp"

namespace pclscope {

record::ClockSource clock_source = record::ClockSource::monotonic;

}  // namespace pclscope
