#include "analysis/rows/finding_rows.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "analysis/rows/lists.hpp"

namespace pclscope {
namespace {

constexpr std::size_t most_values = 1 << 20;  // of all transfer lines together; there are at most 16 of 256

void put_text(std::string_view text, std::vector<TextRow>& texts, std::uint64_t& begin, std::uint64_t& count) {
  begin = texts.size();
  count = text.size();
  for (const char byte : text) texts.push_back({static_cast<std::uint8_t>(byte)});
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) {
    if (!text.empty()) text += '\n';
    text += sentence;
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// In the order in which put() writes them.
bool take_texts(const FindingRow& row, const std::vector<TextRow>& texts, std::uint64_t& next, Finding& finding) {
  const auto take_text = [&](std::uint64_t begin, std::uint64_t count, std::string& to) {
    return each_of(begin, count, texts, next, [&](const TextRow& text) { to += static_cast<char>(text.byte); });
  };
  std::string evidence;
  if (!take_text(row.detail_begin, row.detail_count, finding.detail) ||
      !take_text(row.evidence_begin, row.evidence_count, evidence) ||
      !take_text(row.advice_begin, row.advice_count, finding.advice))
    return false;
  finding.evidence = lines_of(evidence);
  return true;
}

}  // namespace

void put(const Attribution& attribution, SnapshotRows& to) {
  for (const Finding& finding : attribution.findings) {
    FindingRow row;
    static_cast<Finding&>(row) = finding;
    row.ranks_begin = to.finding_ranks.size();
    row.ranks_count = finding.ranks.size();
    for (const std::int32_t rank : finding.ranks) to.finding_ranks.push_back({rank});
    row.nodes_begin = to.finding_nodes.size();
    row.nodes_count = finding.nodes.size();
    for (const std::int32_t node : finding.nodes) to.finding_nodes.push_back({node});
    row.periods_begin = to.finding_periods.size();
    row.periods_count = finding.periods.size();
    to.finding_periods.insert(to.finding_periods.end(), finding.periods.begin(), finding.periods.end());
    put_text(finding.detail, to.finding_texts, row.detail_begin, row.detail_count);
    put_text(joined(finding.evidence), to.finding_texts, row.evidence_begin, row.evidence_count);
    put_text(finding.advice, to.finding_texts, row.advice_begin, row.advice_count);
    to.findings.push_back(std::move(row));
  }
  to.attribution_slices = attribution.slices;
  for (const TransferLine& line : attribution.transfer_lines) {
    TransferLineRow row;
    static_cast<TransferLine&>(row) = line;
    row.values_begin = to.transfer_values.size();
    row.values_count = line.normalised.size();
    for (const float value : line.normalised) to.transfer_values.push_back({value});
    to.transfer_lines.push_back(std::move(row));
  }
}

bool take(const SnapshotRows& from, std::int64_t nodes, Attribution& attribution) {
  std::uint64_t ranks = 0, ends = 0, periods = 0, texts = 0, values = 0;
  for (const FindingRow& row : from.findings) {
    Finding finding = row;
    std::vector<std::int32_t> pairs;
    const auto add_rank = [&](const FindingRankRow& rank) { finding.ranks.push_back(rank.rank); };
    const auto add_period = [&](const FindingPeriod& period) { finding.periods.push_back(period); };
    const auto add_node = [&](const FindingNodeRow& node) { pairs.push_back(node.node); };
    if (!each_of(row.ranks_begin, row.ranks_count, from.finding_ranks, ranks, add_rank) ||
        !each_of(row.nodes_begin, row.nodes_count, from.finding_nodes, ends, add_node) ||
        !each_of(row.periods_begin, row.periods_count, from.finding_periods, periods, add_period) ||
        !take_texts(row, from.finding_texts, texts, finding))
      return false;
    if (finding.cause > last_cause) finding.cause = Cause::unknown;  // of a newer aggregator
    finding.region = std::max(finding.region, -1);
    finding.confidence = std::clamp(finding.confidence, 0.0, 1.0);
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
      if (std::min(pairs[i], pairs[i + 1]) >= 0 && std::max(pairs[i], pairs[i + 1]) < nodes)
        finding.nodes.insert(finding.nodes.end(), {pairs[i], pairs[i + 1]});
    }
    attribution.findings.push_back(std::move(finding));
  }
  if (from.attribution_slices.size() * from.transfer_lines.size() > most_values) return false;
  attribution.slices = from.attribution_slices;
  for (const TransferLineRow& row : from.transfer_lines) {
    TransferLine line = row;
    const auto add = [&](const TransferValueRow& value) { line.normalised.push_back(value.normalised); };
    if (!each_of(row.values_begin, row.values_count, from.transfer_values, values, add)) return false;
    line.normalised.resize(attribution.slices.size());  // readers walk it beside the slices
    attribution.transfer_lines.push_back(std::move(line));
  }
  return true;
}

}  // namespace pclscope
