// Where waits go back to, and what that cost. A row is a computation phase: a rank, the site of the call before it
// and of the call after it. One thread owns an Origins. Memory: 416 bytes per row, at most `limit` rows; when they are
// used up, the quarter that cost most stays and the others are merged into one row per rank (sites 0).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope {

inline constexpr std::int64_t several_visits = INT64_MIN;  // in place of a visit's begin

// A wait's share of what it goes back to: the visit of a row's phase that began at `visit_ns`.
struct Blame {
  std::uint32_t origin = 0;
  float share = 0;  // of the wait, 0..1
  std::int64_t visit_ns = 0;
};

class Origins {
 public:
  static constexpr std::size_t limit = 1u << 16;

  struct Wait {  // one rank waited once
    std::int32_t victim = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::int32_t cause = -1;  // the rank that came late
    bool collective = false;
  };

  explicit Origins(std::int32_t ranks);

  // Row of a phase; made when it is new. Good until make_room().
  std::uint32_t row(std::int32_t rank, std::uint32_t site, std::uint32_t after_site);
  std::int32_t rank_of(std::uint32_t row) const { return rows_[row].rank; }
  std::uint32_t site_of(std::uint32_t row) const { return rows_[row].site; }
  // A visit of the row's phase was so long in excess, of which `off_core_ns` would not be, had its rank had its core.
  void note_excess(std::uint32_t row, double excess_ns, double off_core_ns) {
    rows_[row].excess_ns += excess_ns;
    rows_[row].off_core_ns += off_core_ns;
  }
  // `ns` of the wait go back to the blame's row.
  void charge(const Blame& blame, const Wait& wait, double ns);

  // When few rows are left: merges rows. Returns each old row's new number, empty when nothing changed.
  std::vector<std::uint32_t> make_room(std::size_t rows_needed);

  // Most cost first; rows that cost nobody anything are left out.
  std::vector<DelayOrigin> list(std::size_t most) const;
  double caused_s(std::int32_t rank) const;
  std::size_t size() const { return rows_.size(); }

 private:
  struct Victim {
    std::int32_t rank = -1;
    double ns = 0;
  };
  struct Visit {
    std::int64_t begin_ns = INT64_MIN;
    double ns = 0;
  };
  struct Row {
    std::int32_t rank = 0;
    std::uint32_t site = 0, after_site = 0;
    std::uint64_t waits = 0;
    double cost_ns = 0, direct_ns = 0, collective_ns = 0, worst_ns = 0;
    double excess_ns = 0, off_core_ns = 0;
    std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    std::array<Victim, 16>
        victims;                  // exact up to 16 victims; beyond, the least is replaced: too small, never too large
    std::array<Visit, 4> visits;  // newest ones; a wait for an older visit does not count in worst_ns
  };
  struct Key {
    std::int32_t rank;
    std::uint32_t site, after_site;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      std::uint64_t h = (std::uint64_t{k.site} << 32 | k.after_site) * 0x9e3779b97f4a7c15u;
      h = (h ^ h >> 29 ^ static_cast<std::uint32_t>(k.rank)) * 0xbf58476d1ce4e5b9u;
      return static_cast<std::size_t>(h ^ h >> 32);
    }
  };
  static void charge(Row& row, std::int32_t victim, double ns);
  static void visit(Row& row, std::int64_t begin_ns, double ns);
  static void merge(Row& into, const Row& row);
  static DelayOrigin told(const Row& row);

  std::size_t most_rows_;
  std::vector<Row> rows_;
  std::unordered_map<Key, std::uint32_t, Hash> index_;
  std::vector<double> caused_ns_;  // per rank
};

}  // namespace pclscope
