// Axes of the pictures over time and over ranks. Only for the pictures.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "viewer/report/html.hpp"

namespace pclscope::report {

inline constexpr double picture_width = 760;

// The area of a plot inside its picture, and what its edges stand for.
struct Plot {
  double left = 52, right = picture_width - 8, top = 10, bottom = 190;
  double begin = 0, end = 1;  // across
  double low = 0, high = 1;   // upwards

  double x(double value) const;  // clamped to the area
  double y(double value) const;
};

// Round values between two, about as many as `wanted`, ascending.
std::vector<double> round_steps(double low, double high, int wanted);

void time_axis(const Plot& plot, Picture& picture);
void share_axis(const Plot& plot, Picture& picture);  // percent, upwards

// Columns of a stack, each as wide as its interval: parts on each other, from below.
struct Column {
  double begin = 0, end = 0;
  std::vector<double> parts;
};
// `classes` of each part; one path per part.
void stack(const Plot& plot, const std::vector<Column>& columns, const std::vector<const char*>& classes,
           Picture& picture);

// What the colours mean: (class, words), as HTML.
std::string key(const std::vector<std::pair<std::string, std::string>>& entries);

// "<figure>...": a picture, its key and a sentence; all of it HTML.
std::string figure(const std::string& picture, const std::string& key, std::string_view caption);

}  // namespace pclscope::report
