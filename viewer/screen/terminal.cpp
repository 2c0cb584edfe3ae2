#include "viewer/screen/terminal.hpp"

#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define NCURSES_NOMACROS 1  // else `erase`, `clear`, `move` and the like would be macros in C++ code
#include <curses.h>

namespace pclscope::screen {
namespace {

constexpr int control_d = 4, control_l = 12, escape = 27;
constexpr int escape_wait_ms = 50;  // for the rest of a function key, also over a slow line

struct Look {
  Style style;
  short colour_256;  // on a dark or a light ground; -1: the terminal's own
  short colour_8;
  attr_t attributes;
};
constexpr Look looks[] = {{Style::plain, -1, -1, A_NORMAL},
                          {Style::strong, -1, -1, A_BOLD},
                          {Style::section, -1, -1, A_BOLD | A_UNDERLINE},
                          {Style::dim, 245, -1, A_NORMAL},
                          {Style::cold, 32, COLOR_BLUE, A_BOLD},
                          {Style::cool, 74, COLOR_CYAN, A_NORMAL},
                          {Style::warm, 172, COLOR_YELLOW, A_NORMAL},
                          {Style::hot, 167, COLOR_RED, A_BOLD},
                          {Style::good, 36, COLOR_GREEN, A_NORMAL},
                          {Style::bad, 167, COLOR_RED, A_BOLD}};

const Look& look_of(Style style) { return looks[static_cast<std::size_t>(style)]; }

Key meaning(int code) {
  switch (code) {
    case 'q':
    case 'Q': return Key::quit;
    case 'p':
    case ' ': return Key::pause;
    case 's': return Key::sort;
    case 'r': return Key::reverse;
    case 'k':
    case KEY_UP: return Key::up;
    case 'j':
    case KEY_DOWN: return Key::down;
    case KEY_PPAGE: return Key::page_up;
    case KEY_NPAGE: return Key::page_down;
    case 'g':
    case KEY_HOME: return Key::home;
    case 'G':
    case KEY_END: return Key::end;
    case '\n':
    case '\r':
    case KEY_ENTER:
    case KEY_RIGHT: return Key::enter;
    case escape:
    case KEY_LEFT:
    case KEY_BACKSPACE:
    case 127:
    case 8: return Key::back;
    case '\t': return Key::next_section;
    case KEY_BTAB: return Key::previous_section;
    case '?':
    case 'h':
    case KEY_F(1): return Key::help;
    case 'c': return Key::calls;
    case 'l': return Key::phases;
    case 'a': return Key::ascii;
    case KEY_RESIZE: return Key::redraw;
    default: return Key::none;
  }
}

}  // namespace

std::unique_ptr<Terminal> Terminal::open() {
  std::setlocale(LC_CTYPE, "");
  const bool can_unicode = std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0;
  SCREEN* screen = ::newterm(nullptr, stdout, stdin);
  if (screen == nullptr) return nullptr;
  return std::unique_ptr<Terminal>(new Terminal(screen, can_unicode));
}

Terminal::Terminal(void* screen, bool can_unicode) : screen_(screen), can_unicode_(can_unicode) {
  ::set_term(static_cast<SCREEN*>(screen_));
  ::set_escdelay(escape_wait_ms);
  ::cbreak();
  ::noecho();
  ::nonl();
  ::keypad(stdscr, TRUE);
  ::nodelay(stdscr, TRUE);
  ::curs_set(0);
  choose_colours();
}

Terminal::~Terminal() {
  ::curs_set(1);
  ::endwin();
  ::delscreen(static_cast<SCREEN*>(screen_));
}

// NO_COLOR: https://no-color.org
void Terminal::choose_colours() {
  const char* none = std::getenv("NO_COLOR");
  if ((none != nullptr && *none != 0) || !::has_colors() || ::start_color() == ERR) return;
  const short ground = ::use_default_colors() == OK ? -1 : COLOR_BLACK;
  const short text = ground == -1 ? -1 : COLOR_WHITE;
  colours_ = COLORS;
  if (colours_ < 8) colours_ = 0;
  for (const Look& look : looks) {
    if (colours_ == 0) return;
    const short colour = colours_ >= 256 ? look.colour_256 : look.colour_8;
    ::init_pair(static_cast<short>(1 + static_cast<int>(look.style)), colour < 0 ? text : colour, ground);
  }
}

unsigned long Terminal::attributes(Style style) const {
  const Look& look = look_of(style);
  const bool dimmed = style == Style::dim && colours_ < 256 && colours_ > 0;
  const auto pair = colours_ > 0 ? COLOR_PAIR(1 + static_cast<int>(style)) : A_NORMAL;
  return look.attributes | static_cast<attr_t>(pair) | (dimmed ? A_DIM : A_NORMAL);
}

std::size_t Terminal::width() const { return static_cast<std::size_t>(std::max(::getmaxx(stdscr), 0)); }
std::size_t Terminal::height() const { return static_cast<std::size_t>(std::max(::getmaxy(stdscr), 0)); }

void Terminal::paint(const std::vector<Line>& lines) {
  ::werase(stdscr);
  const int rows = ::getmaxy(stdscr);
  for (int row = 0; row < std::min(rows, static_cast<int>(lines.size())); ++row) {
    const Line& line = lines[static_cast<std::size_t>(row)];
    ::wmove(stdscr, row, 0);
    for (const Span& span : line.spans) {
      ::wattrset(stdscr, static_cast<int>(attributes(span.style) | (line.bar ? A_REVERSE : A_NORMAL)));
      ::waddstr(stdscr, span.text.c_str());
    }
  }
  ::wattrset(stdscr, A_NORMAL);
  ::wrefresh(stdscr);
}

Key Terminal::key(std::chrono::milliseconds timeout) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int ready = ::poll(&input, 1, static_cast<int>(timeout.count()));
  const int code = ::wgetch(stdscr);  // also after an interruption: a change of size comes this way
  if (code == ERR) {
    // Ready, but nothing there, again and again: the terminal has gone.
    empty_reads_ = ready > 0 && input.revents != 0 ? empty_reads_ + 1 : 0;
    if (empty_reads_ > 3) gone_ = true;
    return Key::none;
  }
  empty_reads_ = 0;
  // The end-of-file character; typed before we came, it is read as 0.
  if (code == control_d || code == 0) input_ended_ = true;
  if (code == KEY_RESIZE || code == control_l) {
    ::clearok(stdscr, TRUE);
    return Key::redraw;
  }
  return meaning(code);
}

}  // namespace pclscope::screen
