#include "benchmarks/scale/figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace pclscope::benchmark {

namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Figures figures_of(const PartResult& part) {
  Figures f;
  const std::size_t count = part.windows.size(), from = count / 2;
  std::vector<double> usual;
  double steady = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Cost& w = part.windows[i];
    const double ms = w.total_s() * 1e3;
    f.worst_ms = std::max(f.worst_ms, ms);
    if (i < 3) f.first_ms += ms;
    if (i < from) continue;
    ++steady;
    for (std::size_t k = 0; k < kinds; ++k) {
      f.sent[k] += static_cast<double>(w.sent.bytes[k]);
      f.received[k] += static_cast<double>(w.received.bytes[k]);
      f.frames_sent[k] += static_cast<double>(w.sent.frames[k]);
      f.frames_received[k] += static_cast<double>(w.received.frames[k]);
    }
    if (part.rare[i]) continue;
    usual.push_back(ms);
    for (std::size_t k = 0; k < works; ++k) f.work_ms[k] += w.seconds[k] * 1e3;
  }
  for (std::size_t k = 0; k < kinds; ++k)
    f.sent[k] /= steady, f.received[k] /= steady, f.frames_sent[k] /= steady, f.frames_received[k] /= steady;
  for (double& ms : f.work_ms) ms /= std::max(1.0, static_cast<double>(usual.size()));
  f.usual_ms = median(usual);
  for (const double ms : usual) f.mean_ms += ms / static_cast<double>(usual.size());
  f.status_ms = part.status_s * 1e3;
  f.finish_ms = part.finish_s * 1e3;
  f.memory_mb = static_cast<double>(part.memory) / 1e6;
  return f;
}

double size_of(const Row& row) { return row.sweep == "ranks" ? row.setting.ranks_per_node : row.setting.nodes; }

// What may grow so: n log n, or log n.
double allowed(const Row& small, const Row& large) {
  const double a = size_of(small), b = size_of(large);
  if (small.sweep == "nodes") return std::log2(b) / std::log2(a);
  return b * std::log2(std::max(b, 2.0)) / (a * std::log2(std::max(a, 2.0)));
}

struct Column {
  const char* name;
  double (*of)(const Figures&);
};
constexpr Column columns[] = {{"time", [](const Figures& f) { return f.mean_ms; }},
                              {"bytes", [](const Figures& f) { return f.bytes(); }},
                              {"memory", [](const Figures& f) { return f.memory_mb; }}};

}  // namespace

double Figures::bytes() const {
  double sum = 0;
  for (std::size_t k = 0; k < kinds; ++k) sum += sent[k] + received[k];
  return sum;
}

Row row_of(const std::string& sweep, const Setting& setting, Outcome outcome) {
  Row row{sweep, setting, std::move(outcome), {}};
  for (std::size_t part = 0; part < parts; ++part) row.of[part] = figures_of(row.outcome.of[part]);
  return row;
}

double exponent(const std::vector<double>& x, const std::vector<double>& y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] <= 0 || y[i] <= 0) return 0;
    const double a = std::log(x[i]), b = std::log(y[i]);
    sx += a, sy += b, sxx += a * a, sxy += a * b;
  }
  const double spread = n * sxx - sx * sx;
  return spread <= 1e-12 ? 0 : (n * sxy - sx * sy) / spread;
}

void print(const Row& row) {
  const Setting& s = row.setting;
  std::printf(
      "%s %s: %d nodes x %d = %d ranks, %s, %d windows: %llu of %llu messages, %zu regions, %llu messages not sent "
      "to the root, snapshot %.2f ms, %.1f s%s%s\n",
      row.sweep.c_str(), s.pattern.c_str(), s.nodes, s.ranks_per_node, s.nodes * s.ranks_per_node,
      s.whole ? "whole" : "sampled", s.windows, static_cast<unsigned long long>(row.outcome.matched),
      static_cast<unsigned long long>(row.outcome.expected), row.outcome.regions,
      static_cast<unsigned long long>(row.outcome.left_out), row.outcome.snapshot_ms, row.outcome.wall_s,
      row.outcome.right ? "" : " WRONG:", row.outcome.wrong.c_str());
  for (std::size_t part = 0; part < parts; ++part) {
    const Figures& f = row.of[part];
    std::printf("  %-5s %8.3f ms/window (mean %.3f, worst %.2f, first three %.2f, status %.2f, finish %.2f)  %7.1f MB ",
                part_names[part], f.usual_ms, f.mean_ms, f.worst_ms, f.first_ms, f.status_ms, f.finish_ms, f.memory_mb);
    for (std::size_t k = 0; k < kinds; ++k) std::printf(" %s %.0f>%.0f", kind_names[k], f.received[k], f.sent[k]);
    std::printf("\n       ");
    for (std::size_t k = 0; k < works; ++k) std::printf(" %s %.3f", work_names[k], f.work_ms[k]);
    std::printf("\n");
  }
}

bool print_growth(const std::vector<Row>& rows) {
  if (rows.size() < 2) return true;
  constexpr double noise = 2;
  const Row& first = rows.front();
  const bool nodes = first.sweep == "nodes";
  const double may = allowed(first, rows.back());
  bool good = true;
  std::printf("growth with %s of %s; allowed: x%.2f (%s)\n", first.sweep.c_str(), first.setting.pattern.c_str(), may,
              nodes ? "log n" : "n log n");
  for (std::size_t part = 0; part < parts; ++part)
    for (const Column& column : columns) {
      std::vector<double> x, y;
      for (const Row& row : rows) {
        x.push_back(size_of(row));
        y.push_back(column.of(row.of[part]));
      }
      std::printf("  %-5s %-6s", part_names[part], column.name);
      for (std::size_t i = 0; i < x.size(); ++i) std::printf("  %g: x%.2f", x[i], y[i] / std::max(y[0], 1e-9));
      const std::size_t upper = x.size() > 4 ? x.size() - 4 : 0;
      const double late = exponent({x.begin() + static_cast<std::ptrdiff_t>(upper), x.end()},
                                   {y.begin() + static_cast<std::ptrdiff_t>(upper), y.end()});
      std::printf("   exponent %.2f, of the last four %.2f", exponent(x, y), late);
      if (nodes) std::printf(", so at 100,000 ranks %.3g", y.back() * std::pow(100'000.0 / 16 / x.back(), late));
      const bool fails = part != 0 && &column == columns && y.back() > may * noise * y.front();
      std::printf("%s\n", fails ? "  GROWS TOO FAST" : "");
      good = good && !fails;
    }
  return good;
}

bool write_csv(const std::string& path, const std::vector<Row>& rows) {
  std::ofstream out(path);
  out << "sweep,pattern,nodes,ranks_per_node,part,usual_ms,mean_ms,worst_ms,first_ms,status_ms,finish_ms,memory_mb";
  for (const char* kind : kind_names)
    out << ',' << kind << "_sent," << kind << "_received," << kind << "_frames_received";
  for (const char* work : work_names) out << ',' << work << "_ms";
  out << '\n';
  for (const Row& row : rows)
    for (std::size_t part = 0; part < parts; ++part) {
      const Figures& f = row.of[part];
      out << row.sweep << ',' << row.setting.pattern << ',' << row.setting.nodes << ',' << row.setting.ranks_per_node
          << ',' << part_names[part] << ',' << f.usual_ms << ',' << f.mean_ms << ',' << f.worst_ms << ',' << f.first_ms
          << ',' << f.status_ms << ',' << f.finish_ms << ',' << f.memory_mb;
      for (std::size_t k = 0; k < kinds; ++k)
        out << ',' << f.sent[k] << ',' << f.received[k] << ',' << f.frames_received[k];
      for (const double ms : f.work_ms) out << ',' << ms;
      out << '\n';
    }
  return static_cast<bool>(out.flush());
}

bool write_json(const std::string& path, const std::vector<Row>& rows) {
  std::ofstream out(path);
  out << "{\"window_ms\":100,\"rows\":[";
  for (const Row& row : rows) {
    out << (&row == rows.data() ? "" : ",") << "\n{\"sweep\":\"" << row.sweep << "\",\"pattern\":\""
        << row.setting.pattern << "\",\"nodes\":" << row.setting.nodes
        << ",\"ranks_per_node\":" << row.setting.ranks_per_node
        << ",\"whole\":" << (row.setting.whole ? "true" : "false")
        << ",\"right\":" << (row.outcome.right ? "true" : "false") << ",\"messages\":" << row.outcome.matched
        << ",\"regions\":" << row.outcome.regions << ",\"snapshot_ms\":" << row.outcome.snapshot_ms << ",\"parts\":{";
    for (std::size_t part = 0; part < parts; ++part) {
      const Figures& f = row.of[part];
      out << (part ? "," : "") << '"' << part_names[part] << "\":{\"usual_ms\":" << f.usual_ms
          << ",\"mean_ms\":" << f.mean_ms << ",\"worst_ms\":" << f.worst_ms << ",\"first_ms\":" << f.first_ms
          << ",\"status_ms\":" << f.status_ms << ",\"finish_ms\":" << f.finish_ms << ",\"memory_mb\":" << f.memory_mb;
      for (std::size_t k = 0; k < kinds; ++k)
        out << ",\"" << kind_names[k] << "\":{\"sent\":" << f.sent[k] << ",\"received\":" << f.received[k]
            << ",\"frames_received\":" << f.frames_received[k] << '}';
      out << '}';
    }
    out << "}}";
  }
  out << "\n]}\n";
  return static_cast<bool>(out.flush());
}

}  // namespace pclscope::benchmark
