// Files that are gone, replaced, damaged; a helper program that crashes, hangs or is missing.
#include <catch2/catch.hpp>
#include <random>

#include "analysis/callsite/call_sites.hpp"
#include "tests/analysis/callsite/small_programs.hpp"
#include "tests/patience.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::callsite;
using namespace pclscope::testing;
using namespace std::chrono_literals;

namespace {

constexpr const char* one_call = R"(#include <stdio.h>
void called(int line);
int main(void) {
  called(__LINE__);
  getchar();
  return 0;
}
)";

std::string build(const Workshop& shop, const std::string& name, const std::string& options = "") {
  shop.write(name + ".c", one_call);
  shop.shell("cc -g -O1 " + options + " " + name + ".c called.o -o " + name);
  return shop.path(name);
}

CallSite recorded(const std::string& program) {
  Running running(program);
  CallSites sites(LINES_PROGRAM);
  sites.table().add_process(0, running.pid(), program);
  REQUIRE(sites.site_of(0, running.next().address) == 1);
  return sites.news().at(0);  // without its line: nobody asked
}

std::vector<Answer> ask(const std::string& helper, std::vector<Question> questions, std::chrono::milliseconds at_most) {
  SiteNames names(helper);
  for (Question& question : questions) names.ask(std::move(question));
  return names.wait_for_answers(at_most);
}

}  // namespace

TEST_CASE("a file that is gone, replaced or of another build gives no line, the right one does") {
  const Workshop shop;
  const std::string program = build(shop, "program");
  const CallSite site = recorded(program);
  CHECK(site.line == 0);
  const Question question{7, site.offset, program, site.build_id};
  const auto right = ask(LINES_PROGRAM, {question}, test::patience);
  REQUIRE(right.size() == 1);
  CHECK(right[0].id == 7);
  CHECK(right[0].place.line == 4);
  shop.shell("cc -g -O1 -DOTHER program.c called.o -Wl,--build-id=0x1234 -o program");
  CHECK(ask(LINES_PROGRAM, {question}, test::patience).at(0).place == Place{});
  shop.shell("rm program && mkfifo program");
  CHECK(ask(LINES_PROGRAM, {question}, test::patience).at(0).place == Place{});
  shop.shell("rm program && mkdir program");
  CHECK(ask(LINES_PROGRAM, {question}, test::patience).at(0).place == Place{});
  shop.shell("rmdir program");
  CHECK(ask(LINES_PROGRAM, {question}, test::patience).at(0).place == Place{});
}

TEST_CASE("a program that was replaced while it runs is not looked into") {
  const Workshop shop;
  const std::string program = build(shop, "program");
  Running running(program);
  const Running::Call call = running.next();
  shop.shell("rm program && cc -g -O0 program.c called.o -o program");
  CallSites sites(LINES_PROGRAM);
  sites.table().add_process(0, running.pid(), program);
  REQUIRE(sites.site_of(0, call.address) == 1);
  sites.resolve_all(test::patience);
  const CallSite site = sites.news().at(0);
  CHECK(site.module == program);
  CHECK(site.line == 0);
}

TEST_CASE("damaged modules: every question is answered and nobody but the helper can crash") {
  const Workshop shop;
  const std::string program = build(shop, "program");
  const CallSite site = recorded(program);
  const std::string whole = shop.read("program");
  const std::uint64_t seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  int lines = 0, nothing = 0, other = 0;
  for (int i = 0; i < 120; i++) {
    std::string content = whole;
    if (i % 3 == 0) {
      content.resize(random() % content.size());
    } else {
      for (std::uint64_t flips = 1 + random() % 64; flips > 0; flips--)
        content[random() % content.size()] = static_cast<char>(random());
    }
    shop.write("damaged", content);
    (void)elf::read_elf_image(shop.path("damaged"));  // in this process
    const auto answers =
        ask(LINES_PROGRAM, {{1, site.offset, shop.path("damaged"), ""}, {2, site.offset, program, ""}}, test::patience);
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].id + answers[1].id == 3);
    for (const Answer& answer : answers) {
      if (answer.id == 2) CHECK(answer.place.line == 4);  // also after a crash over the first
      if (answer.id == 1) answer.place.line == 4 ? lines++ : answer.place == Place{} ? nothing++ : other++;
    }
  }
  WARN("120 damaged modules, seed " << seed << ": " << lines << " with the line, " << nothing << " with nothing, "
                                    << other << " with something else");
}

TEST_CASE("a helper that is missing, ends at once or hangs costs nothing but the lines") {
  std::vector<Question> questions;
  for (std::uint32_t id = 1; id <= 40; id++) questions.push_back({id, 4096, "/bin/module" + std::to_string(id), ""});
  for (const char* helper : {"/nonexistent/pclscope-lines", "/bin/false", "/dev/null", ""}) {
    INFO(helper);
    const auto answers = ask(helper, questions, test::patience);
    REQUIRE(answers.size() == 40);
    for (const Answer& answer : answers) CHECK(answer.place == Place{});
  }
  Workshop shop;
  shop.write("hangs", "#!/bin/sh\nexec sleep 1000\n");  // longer than this test may take
  shop.shell("chmod +x hangs");
  CHECK(ask(shop.path("hangs"), questions, 300ms).empty());
}

TEST_CASE("many questions, more than fit into the socket, are answered in order") {
  const Workshop shop;
  const std::string program = build(shop, "program");
  const CallSite site = recorded(program);
  std::vector<Question> questions;
  for (std::uint32_t id = 1; id <= 3000; id++) questions.push_back({id, site.offset, program, site.build_id});
  const auto begin = std::chrono::steady_clock::now();
  const auto answers = ask(LINES_PROGRAM, questions, test::patience);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  WARN("a line takes " << took.count() / 3000 << " us");
  REQUIRE(answers.size() == 3000);
  for (std::uint32_t i = 0; i < 3000; i++) {
    CHECK(answers[i].id == i + 1);
    CHECK(answers[i].place.line == 4);
  }
}

TEST_CASE("a dump's sites get their lines later when the module is still there") {
  const Workshop shop;
  std::vector<CallSite> sites = {recorded(build(shop, "program")), recorded(build(shop, "gone"))};
  sites.push_back(sites[0]);
  sites[2].build_id.clear();  // nothing tells whether it is the same file
  shop.shell("rm gone");
  SiteNames names(LINES_PROGRAM);
  complete_sites(sites, names, test::patience);
  CHECK(sites[0].line == 4);
  CHECK(sites[0].function == "main");
  CHECK(sites[1].line == 0);
  CHECK(sites[2].line == 0);
}
