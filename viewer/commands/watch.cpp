// pclscope watch: the newest snapshot of a run, again and again.
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

#include "viewer/alarms/condition.hpp"
#include "viewer/alarms/metrics.hpp"
#include "viewer/alarms/metrics_server.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/commands/meant_target.hpp"
#include "viewer/commands/watch_pages.hpp"
#include "viewer/commands/watch_screen.hpp"
#include "viewer/screen/full_screen.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/session/target.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/watch_json.hpp"

namespace pclscope::commands {
namespace {

using session::Phase;
using session::Session;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t stop_asked = 0;
void ask_to_stop(int) { stop_asked = 1; }

struct WatchWords {
  std::string target;
  bool once = false;
  bool json = false;
  bool ascii = false;
  bool plain = false;
  bool wait = false;
  std::string page;  // empty: the overview
  std::string via;
  milliseconds interval{1000};
  std::string metrics;                // file
  std::optional<std::uint16_t> http;  // port
  std::unique_ptr<alarms::MetricsServer> server;
  std::optional<alarms::Alarm> alarm;
  std::string until, exec;
  bool pages() const { return !alarm && ((metrics.empty() && !http) || json || plain); }
};

std::int64_t now_realtime_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::optional<int> parse_watch(const std::vector<std::string>& words, WatchWords& watch) {
  CLI::App app{"Shows a running job's regions and counters; a dump file's too.", "pclscope watch"};
  std::string interval = "1s";
  app.add_option("target", watch.target,
                 "Job name, Slurm job id, endpoint or dump file (default: your running job, on whatever node)");
  app.add_flag("--once", watch.once, "Show the newest state and end (waits 2 s at most)");
  app.add_flag("--json", watch.json, "As JSON: with --once one object, else one object per line");
  app.add_flag("--ascii", watch.ascii, "Draw with plain characters");
  app.add_flag("--plain", watch.plain, "No full screen, no keys: page after page");
  app.add_option("--page", watch.page, "What is shown (first): calls over time, or who is late in the newest phases")
      ->type_name("overview|calls|phases")
      ->check(one_of({"overview", "calls", "phases"}))
      ->excludes("--json");
  app.add_flag("--wait", watch.wait, "Wait for the job if it does not run yet");
  app.add_option("--via", watch.via, "Ask a login node for the job, by ssh: login.site.org")->type_name("HOST");
  app.add_option(
         "--until", watch.until,
         "Show nothing, and end with 0 when this holds, else with 1 when the job ends: " + alarms::condition_words())
      ->type_name("CONDITION");
  app.add_option("--exec", watch.exec, "With --until: run this by the shell then; PCLSCOPE_ALARM says what holds")
      ->type_name("COMMAND")
      ->needs("--until");
  app.add_option("--metrics", watch.metrics, "Keep this file up to date: OpenMetrics text, replaced in one step")
      ->type_name("FILE");
  app.add_option("--metrics-http", watch.http,
                 "The same over HTTP on this machine alone, /metrics; asks for your token. PORT 0: any")
      ->type_name("PORT")
      ->excludes("--once");
  app.add_option("--interval", interval, "Time between pictures, 100ms to 1min (1s)")
      ->type_name("TIME")
      ->check(duration_between("100ms", "1min"));
  set_usage(app,
            "pclscope watch [JOB|ENDPOINT|FILE] [--wait] [--once] [--json] [--plain] [--page PAGE] [--via HOST] "
            "[--interval 1s] "
            "[--until CONDITION] [--metrics FILE] [--metrics-http PORT]");
  if (const auto status = parse(app, words)) return status;
  watch.interval = milliseconds(*text::parse_duration_ns(interval) / 1'000'000);
  if (watch.until.empty() && app.count("--until") == 0) return std::nullopt;
  auto condition = alarms::parse_condition(watch.until);
  if (!condition) return fail(wrong_usage, "--until: " + condition.error().message);
  if (watch.json) return fail(wrong_usage, "give --until or --json, not both");
  watch.alarm.emplace(std::move(*condition));
  return std::nullopt;
}

views::Freshness freshness_of(const Snapshot& snapshot, Clock::time_point came) {
  return {session::age_s(snapshot, now_realtime_ns()), std::chrono::duration<double>(Clock::now() - came).count(),
          snapshot.live.window_s};
}

// Written at each picture; the first failure ends the command.
bool write_metrics(const WatchWords& watch, const Snapshot& snapshot, bool running) {
  if (watch.metrics.empty() && !watch.server) return true;
  std::string text = alarms::metrics_text(snapshot, running);
  const Status status = watch.metrics.empty() ? Status() : alarms::replace_file(watch.metrics, text);
  if (watch.server) watch.server->set(std::move(text));
  if (!status) fail(could_not, status.error().message);
  return static_cast<bool>(status);
}

bool show(const WatchWords& watch, Session& session, const Snapshot& snapshot, Clock::time_point came,
          WatchScreen& screen) {
  if (!write_metrics(watch, snapshot, session.phase() == Phase::running && !snapshot.finished)) return false;
  if (!watch.pages()) return true;
  if (!watch.json) {
    const views::PageOptions options = screen.options();
    if (watch.page == "calls") return screen.show(calls_lines(snapshot, options));
    if (watch.page == "phases") return screen.show(phases_lines(session, snapshot, options));
    return screen.show(views::watch_page(snapshot, freshness_of(snapshot, came), options));
  }
  const auto now = session.live() ? std::optional(now_realtime_ns()) : std::nullopt;
  return print(session::to_text(views::watch_json(snapshot, now), watch.once) + "\n");
}

int raise_alarm(const WatchWords& watch, const std::string& sentence) {
  if (!print(sentence + "\n")) return could_not;
  if (watch.exec.empty()) return done;
  ::setenv("PCLSCOPE_ALARM", sentence.c_str(), 1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  const int status = std::system(watch.exec.c_str());
  if (status == 0) return done;
  return fail(could_not, "--exec: " + watch.exec + " failed");
}

// One look tells; but of a running job some conditions need to see a while of it.
std::optional<std::string> look_once(alarms::Alarm& alarm, Session& session, const Snapshot& first) {
  if (!session.live()) alarm.only_one();
  auto holds = alarm.look(first);
  const double must_s = alarm.must_look_s(), begin_s = live_until_s(first);
  const auto deadline = Clock::now() + std::chrono::duration<double>(must_s + 2);
  while (!holds && session.live() && session.phase() == Phase::running && Clock::now() < deadline && stop_asked == 0) {
    const auto got = session.newer(milliseconds(100));
    if (!got) break;
    if (!*got) continue;
    holds = alarm.look(**got);
    if (live_until_s(**got) - begin_s >= must_s) break;
  }
  return holds;
}

int show_once(WatchWords& watch, Session& session, const std::string& name) {
  auto got = session.newer(milliseconds(1900));
  if (!got) return fail(could_not, got.error().message);
  if (!*got) return fail(could_not, "no news from " + name + " within 2 s: is it still running? pclscope list shows");
  WatchScreen screen(false, watch.ascii);
  if (!show(watch, session, **got, Clock::now(), screen)) return could_not;
  if (!watch.alarm) return done;
  if (const auto sentence = look_once(*watch.alarm, session, **got)) return raise_alarm(watch, *sentence);
  return fail(could_not, name + ": '" + watch.until + "' does not hold");
}

int say_end(Phase phase, const std::string& name, const std::string& until = "") {
  if (phase == Phase::finished && !until.empty())
    return fail(could_not, "job " + name + " has finished, and '" + until + "' never held");
  if (phase == Phase::finished) {
    say("job " + name + " has finished");
    return done;
  }
  return fail(could_not, "the aggregator of " + name + " is gone: no more news will come");
}

screen::Page page_of(const WatchWords& watch) {
  return watch.page == "calls"    ? screen::Page::calls
         : watch.page == "phases" ? screen::Page::phases
                                  : screen::Page::overview;
}

// Opens the run for the full screen: first what is open already, after a loss the job that goes on.
session::Feed::Open opener(std::unique_ptr<Session> first, session::Target target) {
  if (target.live.name.empty()) target.live.name = first->job();
  const auto open = std::make_shared<std::unique_ptr<Session>>(std::move(first));
  return [open, again = session::reopener(target)]() -> Result<std::unique_ptr<Session>> {
    return *open ? Result<std::unique_ptr<Session>>(std::move(*open)) : again();
  };
}

// The exit status; nothing when the terminal refuses.
std::optional<int> follow_full_screen(const WatchWords& watch, std::unique_ptr<Session>& session,
                                      const session::Target& target, const std::string& name) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    ::signal(signal, ask_to_stop);  // all give the terminal back
  session::FeedState last;
  {
    const auto terminal = screen::Terminal::open();
    if (!terminal) return std::nullopt;
    const bool ascii = page_options(watch.ascii).ascii;
    last = screen::watch_full_screen(*terminal, opener(std::move(session), target),
                                     {name, ascii, watch.interval, page_of(watch), &stop_asked});
  }
  if (last.phase == Phase::failed || (last.phase == Phase::lost && last.snapshots == 0))
    return fail(could_not, last.problem);
  if (last.phase == Phase::lost) return say_end(Phase::lost, name);
  return last.phase == Phase::finished ? say_end(Phase::finished, name) : done;
}

// Of a job that was lost: the connection alone (a computer slept, a network was away), or the job goes on elsewhere.
// Tries for as long as nobody says that the job is gone.
std::unique_ptr<Session> goes_on(session::Target& target) {
  if (target.live.via.empty() && !target.live.job) return nullptr;
  for (bool told = false; stop_asked == 0; told = true) {
    auto again = session::find_again(target);
    if (!again) return nullptr;
    const bool same = target.live.via.empty() && again->live.job->file == target.live.job->file;
    if (same && again->live.job->here) return nullptr;  // its aggregator is gone
    auto session = session::open_target(*again);
    if (session && target.live.via.empty() && !same) {
      say("job " + target.live.name + " is gone from " + target.live.job->node + "; " + again->live.name + " on " +
          again->live.job->node + " goes on");
    }
    if (session) {
      target = std::move(*again);
      return std::move(*session);
    }
    if (session.error().code != ErrorCode::unreachable) return nullptr;
    if (!told) say("the connection to " + name_of(target) + " is lost; trying again");
    std::this_thread::sleep_for(milliseconds(500));
  }
  return nullptr;
}

int follow(WatchWords& watch, std::unique_ptr<Session> first, session::Target target) {
  std::unique_ptr<Session> followed = std::move(first);
  if (watch.alarm && !followed->live()) watch.alarm->only_one();
  if (target.live.name.empty()) target.live.name = followed->job();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, ask_to_stop);
  WatchScreen screen(watch.pages() && !watch.json && output_is_terminal(), watch.ascii);
  std::optional<Snapshot> newest;
  Clock::time_point came = Clock::now();
  Clock::time_point due = came;
  while (stop_asked == 0) {
    // Before looking for news: what was sent before the end is read before the end is said.
    Session& session = *followed;
    const std::string name = name_of(target);
    const Phase phase = session.phase();
    auto got = session.newer(milliseconds(phase == Phase::running ? 100 : 300));
    if (!got) return fail(could_not, got.error().message);
    const bool fresh = got->has_value();
    if (fresh) {
      newest = std::move(**got);
      came = Clock::now();
      if (const auto sentence = watch.alarm ? watch.alarm->look(*newest) : std::nullopt)
        return write_metrics(watch, *newest, !newest->finished) ? raise_alarm(watch, *sentence) : could_not;
    }
    const bool over = session.phase() != Phase::running && !(fresh && !newest->finished);
    if (Clock::now() < due && !over) continue;
    if (newest) {
      if (!show(watch, session, *newest, came, screen)) return could_not;
    } else if (!over && watch.pages() && !watch.json && !screen.waiting("waiting for news from " + name)) {
      return could_not;
    }
    if (over) {
      screen.leave();
      const Phase end = session.phase();
      auto next = end == Phase::lost ? goes_on(target) : nullptr;
      if (next == nullptr && newest) write_metrics(watch, *newest, false);
      if (next == nullptr) return stop_asked != 0 ? done : say_end(end, name, watch.until);
      followed = std::move(next);
      newest.reset();
    }
    due = std::max(due + watch.interval, Clock::now());
  }
  return done;
}

// False: it was said why not.
bool start_server(WatchWords& watch) {
  const auto token = alarms::metrics_token();
  if (!token) return fail(could_not, "--metrics-http: " + token.error().message), false;
  auto server = alarms::MetricsServer::start(*watch.http, token->text);
  if (!server) return fail(could_not, "--metrics-http: " + server.error().message), false;
  watch.server = std::move(*server);
  say("metrics at http://127.0.0.1:" + std::to_string(watch.server->port()) +
      "/metrics for who has the token: Authorization: Bearer, and what " + token->path + " says");
  return true;
}

}  // namespace

int watch(const std::vector<std::string>& words) {
  WatchWords watch;
  if (const auto status = parse_watch(words, watch)) return *status;
  auto target = meant_target({watch.target, watch.via, watch.wait, watch.interval});
  if (!target) return fail(could_not, target.error().message);
  if (!target->note.empty()) say(target->note);
  if (is_elsewhere(*target)) say_open_key();
  target->live.give_up = [] { return stop_asked != 0; };
  auto session = session::open_target(*target);
  if (!session) return fail(could_not, session.error().message);
  const std::string name = target->file.empty() ? name_of(*target) : target->file;
  say_way(**session, *target);
  if (!watch.once && !watch.json && !watch.plain && watch.pages() && screen::Terminal::usable()) {
    if (const auto status = follow_full_screen(watch, *session, *target, name)) return *status;
  }
  if (watch.http && !(*session)->live())
    return fail(wrong_usage, "--metrics-http is for running jobs: " + name + " has no news");
  if (watch.http && !start_server(watch)) return could_not;
  if (watch.once || !(*session)->live()) {
    watch.once = true;
    return show_once(watch, **session, name);
  }
  return follow(watch, std::move(*session), *target);
}

}  // namespace pclscope::commands
