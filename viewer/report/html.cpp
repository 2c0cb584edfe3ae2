#include "viewer/report/html.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viewer/text/printable.hpp"

namespace pclscope::report {
namespace {

std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? "" : std::string(" ").append(name).append("=\"").append(value).append("\"");
}

}  // namespace

std::string escaped(std::string_view foreign) {
  std::string made;
  for (const char c : text::printable(foreign)) switch (c) {
      case '&': made += "&amp;"; break;
      case '<': made += "&lt;"; break;
      case '>': made += "&gt;"; break;
      case '"': made += "&quot;"; break;
      case '\'': made += "&#39;"; break;
      default: made += c;
    }
  return made;
}

std::string element(std::string_view tag, std::string_view classes, std::string_view content) {
  return std::string("<")
      .append(tag)
      .append(attribute("class", classes))
      .append(">")
      .append(content)
      .append("</")
      .append(tag)
      .append(">");
}

std::string column_title(std::string_view classes, std::string_view content) {
  return "<th scope=\"col\"" + attribute("class", classes) + ">" + std::string(content) + "</th>";
}

std::string row_title(std::string_view classes, std::string_view content) {
  return "<th scope=\"row\"" + attribute("class", classes) + ">" + std::string(content) + "</th>";
}

std::string number(const std::string& field, const session::Json& value, std::string_view shown) {
  if (!value.is_number()) return escaped(shown);
  return "<data data-field=\"" + escaped(field) + "\" value=\"" + session::to_text(value, false) + "\">" +
         escaped(shown) + "</data>";
}

std::string coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", std::clamp(value, -1e6, 1e6));
  std::string made = text;
  if (made.ends_with(".0")) made.resize(made.size() - 2);
  return made == "-0" ? "0" : made;
}

Picture::Picture(double width, double height, std::string_view what_it_shows)
    : head_("<svg viewBox=\"0 0 " + coordinate(width) + " " + coordinate(height) + "\" role=\"img\" aria-label=\"" +
            escaped(what_it_shows) + "\">\n") {}

void Picture::end(std::string_view tip) {
  const std::string_view tag = std::string_view(body_).substr(body_.rfind('<') + 1);
  const std::string name(tag.substr(0, tag.find(' ')));
  body_ += tip.empty() ? "/>\n" : "><title>" + escaped(tip) + "</title></" + name + ">\n";
}

void Picture::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  path("M" + coordinate(x1) + " " + coordinate(y1) + "L" + coordinate(x2) + " " + coordinate(y2), classes);
}

void Picture::box(double x, double y, double width, double height, std::string_view classes, std::string_view tip) {
  body_ += "<rect" + attribute("x", coordinate(x)) + attribute("y", coordinate(y)) +
           attribute("width", coordinate(std::max(width, 0.0))) +
           attribute("height", coordinate(std::max(height, 0.0))) + attribute("class", classes);
  end(tip);
}

void Picture::circle(double x, double y, double radius, std::string_view classes, std::string_view tip) {
  body_ += "<circle" + attribute("cx", coordinate(x)) + attribute("cy", coordinate(y)) +
           attribute("r", coordinate(std::max(radius, 0.0))) + attribute("class", classes);
  end(tip);
}

void Picture::path(std::string_view d, std::string_view classes, std::string_view tip) {
  body_ += "<path" + attribute("d", d) + attribute("class", classes);
  end(tip);
}

void Picture::text(double x, double y, std::string_view words, std::string_view classes) {
  body_ += "<text" + attribute("x", coordinate(x)) + attribute("y", coordinate(y)) + attribute("class", classes) + ">" +
           escaped(words) + "</text>\n";
}

}  // namespace pclscope::report
