#include "viewer/gui/frame/offscreen.hpp"

#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace pclscope::gui {

struct Offscreen::Inside {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;
  GLuint framebuffer = 0, colour = 0;
  int width = 0, height = 0;

  ~Inside();
  const char* make_context();
  const char* make_framebuffer();
};

Offscreen::Inside::~Inside() {
  if (framebuffer != 0) glDeleteFramebuffers(1, &framebuffer);
  if (colour != 0) glDeleteRenderbuffers(1, &colour);
  if (display == EGL_NO_DISPLAY) return;
  eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  if (context != EGL_NO_CONTEXT) eglDestroyContext(display, context);
  eglTerminate(display);
}

// What is missing, or null.
const char* Offscreen::Inside::make_context() {
  const auto get_display =
      reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
  if (get_display) display = get_display(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr);
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, nullptr, nullptr)) {
    display = EGL_NO_DISPLAY;
    return "EGL without a display (Mesa's libegl-mesa0 and libgl1-mesa-dri)";
  }
  if (!eglBindAPI(EGL_OPENGL_API)) return "OpenGL in EGL";
  const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint found = 0;
  eglChooseConfig(display, wanted, &config, 1, &found);
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0, EGL_NONE};
  context = eglCreateContext(display, found > 0 ? config : nullptr, EGL_NO_CONTEXT, version);
  if (context == EGL_NO_CONTEXT || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
    return "OpenGL 3.0";
  return nullptr;
}

const char* Offscreen::Inside::make_framebuffer() {
  glGenFramebuffers(1, &framebuffer);
  glGenRenderbuffers(1, &colour);
  glBindRenderbuffer(GL_RENDERBUFFER, colour);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour);
  return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE ? nullptr
                                                                             : "a picture of this size in OpenGL";
}

Offscreen::Offscreen(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Offscreen::~Offscreen() = default;

Result<std::unique_ptr<Offscreen>> Offscreen::open(int width, int height) {
  auto inside = std::make_unique<Inside>();
  inside->width = width;
  inside->height = height;
  const char* missing = inside->make_context();
  if (!missing) missing = inside->make_framebuffer();
  if (missing) {
    return Error{ErrorCode::not_found, std::string("cannot draw: there is no ")
                                           .append(missing)
                                           .append("; pclscope watch shows the same in the terminal")};
  }
  return std::unique_ptr<Offscreen>(new Offscreen(std::move(inside)));
}

void Offscreen::begin_frame(layout::Rgba clear_with) {
  glBindFramebuffer(GL_FRAMEBUFFER, inside_->framebuffer);
  glViewport(0, 0, inside_->width, inside_->height);
  glClearColor(clear_with.red / 255.f, clear_with.green / 255.f, clear_with.blue / 255.f, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

void Offscreen::finish() { glFinish(); }

layout::Image Offscreen::pixels() {
  const auto width = static_cast<std::size_t>(inside_->width), height = static_cast<std::size_t>(inside_->height);
  layout::Image image{inside_->width, inside_->height, std::vector<std::uint8_t>(width * height * 4)};
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, inside_->width, inside_->height, GL_RGBA, GL_UNSIGNED_BYTE, image.rgba.data());
  for (std::size_t y = 0; y < height / 2; ++y) {  // OpenGL's rows go upwards
    std::swap_ranges(image.rgba.begin() + static_cast<std::ptrdiff_t>(y * width * 4),
                     image.rgba.begin() + static_cast<std::ptrdiff_t>((y + 1) * width * 4),
                     image.rgba.begin() + static_cast<std::ptrdiff_t>((height - 1 - y) * width * 4));
  }
  return image;
}

Status write_png(const layout::Image& image, const std::string& path) {
  const std::string part = path + ".part";
  const std::string problem = layout::save_png(image, part);
  if (problem.empty() && std::rename(part.c_str(), path.c_str()) == 0) return {};
  ::unlink(part.c_str());
  return Error{ErrorCode::io, "cannot write " + path + ": " + (problem.empty() ? "the file is in the way" : problem)};
}

}  // namespace pclscope::gui
