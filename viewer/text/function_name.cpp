#include "viewer/text/function_name.hpp"

#include <cctype>

namespace pclscope::text {
namespace {

constexpr std::string_view unnamed = "(anonymous namespace)", by_operator = "operator";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

// Behind the bracket that closes the one at `at`; the end when none does.
std::size_t behind(std::string_view name, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < name.size(); ++i) {
    if (name[i] == '(' || name[i] == '<' || name[i] == '[' || name[i] == '{') ++depth;
    const bool is_arrow = name[i] == '>' && i > 0 && name[i - 1] == '-';
    if ((name[i] == ')' || name[i] == '>' || name[i] == ']' || name[i] == '}') && !is_arrow && --depth == 0)
      return i + 1;
  }
  return name.size();
}

// Behind the operator's sign or type: "operator<<", "operator()", "operator bool", "operator new[]".
std::size_t behind_operator(std::string_view name, std::size_t at) {
  std::size_t i = at + by_operator.size();
  if (name.substr(i).starts_with("()") || name.substr(i).starts_with("[]")) return i + 2;
  if (i < name.size() && name[i] == ' ') {  // a type, or new and delete
    const std::size_t arguments = name.find('(', i);
    return arguments == std::string_view::npos ? name.size() : arguments;
  }
  while (i < name.size() && std::string_view("<>=-+*/%^&|!~,").find(name[i]) != std::string_view::npos) ++i;
  return i;
}

}  // namespace

std::string short_function(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size();) {
    const std::string_view left = name.substr(i);
    if (left.starts_with(unnamed)) {
      text += unnamed;
      i += unnamed.size();
    } else if (left.starts_with(by_operator) && (i == 0 || !is_word(name[i - 1])) &&
               (left.size() == by_operator.size() || !is_word(left[by_operator.size()]))) {
      const std::size_t end = behind_operator(name, i);
      text += name.substr(i, end - i);
      i = end;
    } else if (name[i] == '<' || name[i] == '[') {
      i = behind(name, i);
    } else if (name[i] == '{') {  // "{lambda(int)#1}"
      const std::size_t end = behind(name, i), open = name.find('(', i);
      if (open < end)
        text.append(name.substr(i, open - i)).append(name.substr(behind(name, open), end - behind(name, open)));
      else text += name.substr(i, end - i);
      i = end;
    } else if (name[i] == '(') {
      const std::size_t inside = name.find("::", behind(name, i));  // of what is local to this function
      if (inside == std::string_view::npos || text.empty()) break;
      i = inside;
    } else if (name[i] == ' ') {
      if (!name.substr(i).starts_with(" <")) text.clear();  // what it returns; not of "operator<< <char>"
      ++i;
    } else {
      text += name[i++];
    }
  }
  return text.empty() ? std::string(name) : text;
}

std::string same_function(std::string_view name) {
  std::string text = short_function(name);
  return text.starts_with("std::") ? std::string(name) : text;
}

}  // namespace pclscope::text
