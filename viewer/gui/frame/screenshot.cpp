#include <imgui.h>
#include <imgui/backends/imgui_impl_opengl3.h>
#include <unistd.h>

#include <chrono>

#include "viewer/commands/command_line.hpp"
#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/frame/app.hpp"
#include "viewer/gui/frame/description_file.hpp"
#include "viewer/gui/frame/offscreen.hpp"
#include "viewer/gui/frame/style.hpp"
#include "viewer/gui/frame/window.hpp"

namespace pclscope::gui {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto patience_for_news = std::chrono::seconds(10);
constexpr auto patience = std::chrono::seconds(60);
constexpr auto say_after = std::chrono::milliseconds(1000);

void draw(App& app, Offscreen& screen, const ViewOptions& options, float scale) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(options.width), static_cast<float>(options.height)};
  io.DeltaTime = 1 / 60.f;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  app.frame(io.DisplaySize.x, io.DisplaySize.y, scale);
  ImGui::Render();
  screen.begin_frame(layout::palette(app.theme()).background);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  screen.finish();
}

// Frames until everything that was asked for is in the picture.
int draw_all(App& app, Offscreen& screen, const ViewOptions& options, float scale) {
  const auto began = Clock::now();
  bool said = false;
  std::string problem;
  for (;;) {
    draw(app, screen, options, scale);
    if (app.complete(problem)) return commands::done;
    if (!problem.empty()) return commands::fail(commands::could_not, problem);
    if (!app.anything_came() && Clock::now() - began > patience_for_news) {
      return commands::fail(commands::could_not, "no news from " + options.target +
                                                     " within 10 s: is the job still running, and is " +
                                                     "the key file (pclscope key) the same as there?");
    }
    if (Clock::now() - began > patience) {
      return commands::fail(commands::could_not,
                            "no picture within 60 s: ask for a shorter period (--select period=FROM:TO)");
    }
    if (!said && Clock::now() - began > say_after && ::isatty(2)) {
      commands::say("reading " + options.target);
      said = true;
    }
    ::usleep(app.unsettled() ? 5'000 : 20'000);
  }
}

}  // namespace

int make_screenshot(const ViewOptions& options, session::Feed::Open open) {
  auto screen = Offscreen::open(options.width, options.height);
  if (!screen) return commands::fail(commands::could_not, screen.error().message);
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.MousePos = {-1e6f, -1e6f};
  for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
  const float scale = options.scale > 0 ? options.scale : 1;
  load_font(scale);
  apply_style(layout::palette(options.theme), scale);
  ImGui_ImplOpenGL3_Init("#version 130");
  Texture::allow_uploads(true);
  int status = commands::could_not;
  {
    App app(options, std::move(open), {});
    status = draw_all(app, **screen, options, scale);
    if (status == commands::done) {
      DescriptionFile(options.describe).write([&] { return app.description(); });
      const Status written = write_png((*screen)->pixels(), options.screenshot);
      if (!written) status = commands::fail(commands::could_not, written.error().message);
    }
  }
  Texture::allow_uploads(false);
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
  return status;
}

}  // namespace pclscope::gui
