#include "viewer/commands/traffic_source.hpp"

#include <algorithm>
#include <fstream>

#include "analysis/mapping/traffic_file.hpp"
#include "viewer/session/target.hpp"

namespace pclscope::commands {
namespace {

constexpr std::chrono::milliseconds patience{1900};

}  // namespace

bool is_dump(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  char magic[4] = {};
  return in.read(magic, sizeof magic) && std::string_view(magic, sizeof magic) == "\x89HDF";
}

Result<RunWithNews> open_run_with_news(const std::string& word) {
  auto session = session::open_run(word);
  if (!session) return session.error();
  auto news = (*session)->newer(patience);
  if (!news) return news.error();
  if (!*news)
    return Error{ErrorCode::unreachable,
                 "no news from " + word + " within 2 s: is it still running? pclscope list shows"};
  return RunWithNews{std::move(*session), std::move(**news)};
}

namespace {

Result<SourcedTraffic> read_run(const std::string& word) {
  const auto run = open_run_with_news(word);
  if (!run) return run.error();
  const auto pairs = run->session->traffic();
  if (!pairs) return pairs.error();
  const Application& application = run->news.application;
  SourcedTraffic source;
  source.of_run = true;
  source.traffic.ranks = application.ranks;
  for (const PairTraffic& pair : *pairs)
    source.traffic.flows.push_back({pair.source, pair.destination, pair.messages, static_cast<double>(pair.bytes)});
  source.nodes = application.nodes;
  source.machines = run->news.found;
  source.node_of_rank = application.node_of_rank;
  source.node_of_rank.resize(static_cast<std::size_t>(std::max(0, application.ranks)), -1);
  return source;
}

}  // namespace

Result<SourcedTraffic> read_traffic_source(const std::string& word) {
  if (!session::is_existing_file(word) || is_dump(word)) return read_run(word);
  auto file = mapping::read_traffic(word);
  if (!file) return file.error();
  SourcedTraffic source;
  source.traffic = std::move(file->traffic);
  source.names = std::move(file->names);
  return source;
}

}  // namespace pclscope::commands
