#include "viewer/gui/frame/window.hpp"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui/backends/imgui_impl_glfw.h>
#include <imgui/backends/imgui_impl_opengl3.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "viewer/commands/command_line.hpp"
#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/frame/app.hpp"
#include "viewer/gui/frame/description_file.hpp"
#include "viewer/gui/frame/job_chooser.hpp"
#include "viewer/gui/frame/settings.hpp"
#include "viewer/gui/frame/style.hpp"
#include "viewer/text/printable.hpp"

namespace pclscope::gui {
namespace {

volatile std::sig_atomic_t stop_asked = 0;
void ask_to_stop(int) { stop_asked = 1; }

std::string glfw_problem;
void note_problem(int, const char* text) { glfw_problem = text; }

int escapes = 0, finds = 0, copies = 0;  // not yet handed on; UI thread
void note_key(GLFWwindow*, int key, int, int action, int modifiers) {
  if (key == GLFW_KEY_ESCAPE && action == GLFW_PRESS) ++escapes;
  if (key == GLFW_KEY_C && action == GLFW_PRESS && (modifiers & GLFW_MOD_CONTROL)) ++copies;
  if (key == GLFW_KEY_F && action == GLFW_PRESS && (modifiers & GLFW_MOD_CONTROL)) ++finds;
}

constexpr double idle_s = 0.25;  // between frames when nothing happens: ages must go on
constexpr double busy_s = 0.010;

// GLFW and a window with its OpenGL context.
class Window {
 public:
  ~Window() {
    if (window_) glfwDestroyWindow(window_);
    if (begun_) glfwTerminate();
  }
  // An empty text, or what to tell the user.
  std::string open(const ViewOptions& options) {
    glfwSetErrorCallback(note_problem);
    begun_ = glfwInit() == GLFW_TRUE;
    if (!begun_)
      return "cannot open a window: " + text::printable(glfw_problem) +
             "; over ssh use ssh -X, or pclscope watch, or --screenshot FILE.png";
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
    const std::string title = "pclscope: " + text::printable(options.target);
    window_ = glfwCreateWindow(options.width, options.height, title.c_str(), nullptr, nullptr);
    if (!window_) {
      return "no OpenGL 3.0 on this display (" + text::printable(glfw_problem) +
             "): try LIBGL_ALWAYS_SOFTWARE=1, or pclscope watch, or --screenshot FILE.png";
    }
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(1);
    return {};
  }
  GLFWwindow* get() const { return window_; }
  float scale(float asked) const {
    if (asked > 0) return asked;
    float x = 1, y = 1;
    glfwGetWindowContentScale(window_, &x, &y);
    return std::clamp(std::max(x, y), 0.5f, 4.f);
  }

 private:
  bool begun_ = false;
  GLFWwindow* window_ = nullptr;
};

void render(GLFWwindow* window, const layout::Palette& palette) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  glViewport(0, 0, width, height);
  glClearColor(palette.background.red / 255.f, palette.background.green / 255.f, palette.background.blue / 255.f, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  glfwSwapBuffers(window);
}

void begin_frame() {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
}

void loop(App& app, GLFWwindow* window, float scale, const std::string& describe) {
  DescriptionFile description(describe);
  layout::Theme theme = app.theme();
  apply_style(layout::palette(theme), scale);
  while (stop_asked == 0 && !glfwWindowShouldClose(window) && !app.wants_to_close()) {
    glfwWaitEventsTimeout(app.unsettled() ? busy_s : idle_s);
    if (glfwGetWindowAttrib(window, GLFW_ICONIFIED)) continue;
    for (; escapes > 0; --escapes) app.escape();
    for (; finds > 0; --finds) app.find();
    for (; copies > 0; --copies) app.copy();
    if (theme != app.theme()) apply_style(layout::palette(theme = app.theme()), scale);
    begin_frame();
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    app.frame(std::max(size.x, 1.f), std::max(size.y, 1.f), scale);
    ImGui::Render();
    render(window, layout::palette(theme));
    description.write([&] { return app.description(); });
  }
}

// Nothing: the user leaves.
std::optional<discovery::Job> choose(JobChooser& chooser, GLFWwindow* window, float scale, const ViewOptions& options) {
  DescriptionFile description(options.describe);
  apply_style(layout::palette(options.theme), scale);
  while (stop_asked == 0 && !glfwWindowShouldClose(window) && !chooser.wants_to_close() && !chooser.chosen()) {
    glfwWaitEventsTimeout(idle_s);
    for (; escapes > 0; --escapes) chooser.escape();
    finds = copies = 0;
    begin_frame();
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    chooser.frame(std::max(size.x, 1.f), std::max(size.y, 1.f), scale,
                  std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
    ImGui::Render();
    render(window, layout::palette(options.theme));
    description.write([&] { return chooser.description(); });
  }
  return chooser.wants_to_close() ? std::nullopt : chooser.chosen();
}

// What is shown in the window that is there now.
using Show = std::function<void(GLFWwindow* window, float scale, bool first_run)>;

int in_window(const ViewOptions& options, const Show& show) {
  Window window;
  if (const std::string problem = window.open(options); !problem.empty())
    return commands::fail(commands::could_not, problem);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, ask_to_stop);
  ImGui::CreateContext();
  const Settings settings = find_settings();
  ImGui::GetIO().IniFilename = settings.file.empty() ? nullptr : settings.file.c_str();
  ImGui::GetIO().MouseDoubleClickTime = 0.5f;  // as desktops have it; a software renderer's frames take their time
  const float scale = window.scale(options.scale);
  load_font(scale);
  glfwSetKeyCallback(window.get(), note_key);  // ImGui's calls it too
  ImGui_ImplGlfw_InitForOpenGL(window.get(), true);
  ImGui_ImplOpenGL3_Init("#version 130");
  Texture::allow_uploads(true);
  show(window.get(), scale, settings.first_run);
  Texture::allow_uploads(false);
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  return commands::done;
}

void show_run(const ViewOptions& options, session::Feed::Open open, GLFWwindow* window, float scale, bool first_run) {
  App app(options, std::move(open), [] { glfwPostEmptyEvent(); });
  if (first_run) app.show_hint();
  loop(app, window, scale, options.describe);
}

}  // namespace

int show_window(const ViewOptions& options, session::Feed::Open open) {
  return in_window(options, [&](GLFWwindow* window, float scale, bool first_run) {
    show_run(options, std::move(open), window, scale, first_run);
  });
}

int show_window(const ViewOptions& options, const JobChoice& choice) {
  return in_window(options, [&](GLFWwindow* window, float scale, bool first_run) {
    std::optional<discovery::Job> job;
    {
      JobChooser chooser(choice.jobs, choice.list, [] { glfwPostEmptyEvent(); });
      job = choose(chooser, window, scale, options);
    }
    if (!job) return;
    ViewOptions of_job = options;
    of_job.target = job->name;
    const std::string title = "pclscope: " + text::printable(job->name);
    glfwSetWindowTitle(window, title.c_str());
    show_run(of_job, choice.open(*job), window, scale, first_run);
  });
}

}  // namespace pclscope::gui
