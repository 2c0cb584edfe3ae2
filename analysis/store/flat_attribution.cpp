#include "analysis/store/flat_attribution.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "analysis/store/stretch.hpp"

namespace pclscope::store {
namespace {

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

// In the order in which flatten() writes them.
bool take_texts(const FindingRow& row, const std::vector<TextRow>& texts, std::uint64_t& next, Finding& finding) {
  const auto take = [&](std::uint64_t begin, std::uint64_t count, std::string& to) {
    if (!follows(begin, count, texts.size(), next)) return false;
    for (std::uint64_t i = 0; i < count; i++) to += static_cast<char>(texts[begin + i].byte);
    return true;
  };
  std::string evidence;
  if (!take(row.detail_begin, row.detail_count, finding.detail) ||
      !take(row.evidence_begin, row.evidence_count, evidence) ||
      !take(row.advice_begin, row.advice_count, finding.advice))
    return false;
  finding.evidence = lines_of(evidence);
  return true;
}

}  // namespace

FlatAttribution flatten(const Attribution& attribution) {
  FlatAttribution flat;
  for (const Finding& finding : attribution.findings) {
    FindingRow row;
    static_cast<Finding&>(row) = finding;
    row.ranks_begin = flat.ranks.size();
    row.ranks_count = finding.ranks.size();
    for (const std::int32_t rank : finding.ranks) flat.ranks.push_back({rank});
    row.nodes_begin = flat.nodes.size();
    row.nodes_count = finding.nodes.size();
    for (const std::int32_t node : finding.nodes) flat.nodes.push_back({node});
    put_text(finding.detail, flat.texts, row.detail_begin, row.detail_count);
    put_text(joined(finding.evidence), flat.texts, row.evidence_begin, row.evidence_count);
    put_text(finding.advice, flat.texts, row.advice_begin, row.advice_count);
    flat.findings.push_back(std::move(row));
  }
  flat.slices = attribution.slices;
  for (const TransferLine& line : attribution.transfer_lines) {
    TransferLineRow row;
    static_cast<TransferLine&>(row) = line;
    row.values_begin = flat.values.size();
    row.values_count = line.normalised.size();
    for (const float value : line.normalised) flat.values.push_back({value});
    flat.lines.push_back(std::move(row));
  }
  return flat;
}

bool unflatten(const FlatAttribution& flat, std::int64_t nodes, Attribution& attribution) {
  std::uint64_t ranks = 0, ends = 0, texts = 0, values = 0;
  for (const FindingRow& row : flat.findings) {
    if (!follows(row.ranks_begin, row.ranks_count, flat.ranks.size(), ranks)) return false;
    if (!follows(row.nodes_begin, row.nodes_count, flat.nodes.size(), ends)) return false;
    Finding finding = row;
    if (!take_texts(row, flat.texts, texts, finding)) return false;
    if (finding.cause > Cause::collective_wait) finding.cause = Cause::unknown;
    for (std::uint64_t i = 0; i < row.ranks_count; i++) finding.ranks.push_back(flat.ranks[row.ranks_begin + i].rank);
    for (std::uint64_t i = 0; i + 1 < row.nodes_count; i += 2) {
      const std::int32_t from = flat.nodes[row.nodes_begin + i].node, to = flat.nodes[row.nodes_begin + i + 1].node;
      if (std::min(from, to) >= 0 && std::max(from, to) < nodes) finding.nodes.insert(finding.nodes.end(), {from, to});
    }
    attribution.findings.push_back(std::move(finding));
  }
  attribution.slices = flat.slices;
  for (const TransferLineRow& row : flat.lines) {
    if (!follows(row.values_begin, row.values_count, flat.values.size(), values)) return false;
    TransferLine line = row;
    for (std::uint64_t i = 0; i < row.values_count; i++)
      line.normalised.push_back(flat.values[row.values_begin + i].normalised);
    line.normalised.resize(attribution.slices.size());  // readers walk it beside the slices
    attribution.transfer_lines.push_back(std::move(line));
  }
  return true;
}

}  // namespace pclscope::store
