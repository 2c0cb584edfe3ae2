#include "analysis/store/sites.hpp"

#include <cstring>
#include <optional>

namespace pclscope::store {
namespace {

constexpr std::size_t longest_text = 16384;
constexpr std::size_t most_text = std::size_t{256} << 20;  // of a whole file: a damaged one may refer to one text often

template <class Row>
bool append(TableWriter<Row>& table, std::vector<Row>& added, std::uint64_t rows) {
  const bool good = table.write(rows - added.size(), added) && table.set_rows(rows);
  added.clear();
  return good;
}

std::optional<std::string> text_at(const std::vector<TextRow>& texts, std::uint64_t begin, std::uint64_t count) {
  if (begin > texts.size() || count > texts.size() - begin || count > longest_text) return std::nullopt;
  std::string text(count, '\0');
  for (std::uint64_t i = 0; i < count; i++) text[i] = static_cast<char>(texts[begin + i].byte);
  return text;
}

}  // namespace

// What refers to others is committed after them: it is created first (driver.cpp).
bool SiteWriter::create(const Layout& layout, hid_t parent) {
  return sites_.create(layout, parent, "sites", 512) && modules_.create(layout, parent, "modules", 16) &&
         texts_.create(layout, parent, "texts", 8192);
}

SiteWriter::TextRange SiteWriter::text(const std::string& text) {
  const auto [known, added] = known_texts_.try_emplace(text.substr(0, longest_text));
  if (added) {
    known->second = {text_rows_, known->first.size()};
    for (const char c : known->first) added_.texts.push_back({static_cast<std::uint8_t>(c)});
    text_rows_ += known->first.size();
  }
  return known->second;
}

std::uint32_t SiteWriter::module(const CallSite& site) {
  const auto [known, added] = known_modules_.try_emplace(std::pair(site.module, site.build_id), module_rows_);
  if (!added) return known->second;
  ModuleRow row;
  const TextRange path = text(site.module);
  row.path_begin = path.begin;
  row.path_count = path.count;
  std::memcpy(row.build_id.data(), site.build_id.data(), std::min(site.build_id.size(), row.build_id.size()));
  added_.modules.push_back(row);
  module_rows_++;
  return known->second;
}

void SiteWriter::add(std::span<const CallSite> sites) {
  for (const CallSite& site : sites) {
    const std::uint64_t bytes =
        row_bytes<SiteRow>() + row_bytes<ModuleRow>() + site.module.size() + site.function.size() + site.file.size();
    if (bytes_ + bytes * 5 / 4 > limit_) continue;  // a quarter for the index
    const std::uint64_t rows_before = text_rows_;
    SiteRow row;
    row.id = site.id;
    row.module = module(site);
    row.offset = site.offset;
    row.mpi_function = site.mpi_function;
    row.line = site.line;
    row.caller = site.caller;
    const TextRange function = text(site.function), file = text(site.file);
    row.function_begin = function.begin;
    row.function_count = function.count;
    row.file_begin = file.begin;
    row.file_count = file.count;
    added_.sites.push_back(row);
    site_rows_++;
    bytes_ += (row_bytes<SiteRow>() + row_bytes<ModuleRow>() + text_rows_ - rows_before) * 5 / 4;
  }
}

bool SiteWriter::write() {
  return append(texts_, added_.texts, text_rows_) && append(modules_, added_.modules, module_rows_) &&
         append(sites_, added_.sites, site_rows_);
}

std::vector<CallSite> unflatten(const FlatSites& flat) {
  std::map<std::uint32_t, CallSite> by_id;
  std::size_t total = 0;
  for (const SiteRow& row : flat.sites) {
    if (row.id == 0 || row.module >= flat.modules.size()) continue;
    const ModuleRow& module = flat.modules[row.module];
    const auto path = text_at(flat.texts, module.path_begin, module.path_count);
    const auto function = text_at(flat.texts, row.function_begin, row.function_count);
    const auto file = text_at(flat.texts, row.file_begin, row.file_count);
    if (!path || !function || !file) continue;
    total += path->size() + function->size() + file->size();
    if (total > most_text) break;
    CallSite& site = by_id[row.id];
    site.id = row.id;
    site.module = *path;
    site.build_id.assign(module.build_id.data(), ::strnlen(module.build_id.data(), module.build_id.size()));
    site.offset = row.offset;
    site.function = *function;
    site.file = *file;
    site.line = row.line;
    site.mpi_function = row.mpi_function;
    site.caller = row.caller < row.id ? row.caller : 0;
  }
  std::vector<CallSite> sites;
  for (auto& [id, site] : by_id) sites.push_back(std::move(site));
  return sites;
}

}  // namespace pclscope::store
