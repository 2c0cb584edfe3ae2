#include "viewer/inspect/topic.hpp"

#include <algorithm>

namespace pclscope::commands {

#define TOPIC(name) extern const Topic name##_topic;
#include "viewer/inspect/topics.def"
#undef TOPIC

std::span<const Topic* const> topics() {
  static constexpr const Topic* all[] = {
#define TOPIC(name) &name##_topic,
#include "viewer/inspect/topics.def"
#undef TOPIC
  };
  return all;
}

const Topic& topic_named(std::string_view name) {
  const auto all = topics();
  return **std::find_if(all.begin(), all.end(), [&](const Topic* topic) { return name == topic->name; });
}

int fail(const Error& error) {
  return fail(error.code == ErrorCode::bad_argument ? wrong_usage : could_not, error.message);
}

}  // namespace pclscope::commands
