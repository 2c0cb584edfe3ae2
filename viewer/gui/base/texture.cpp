#include "viewer/gui/base/texture.hpp"

#include <GL/gl.h>

#ifndef GL_CLAMP_TO_EDGE
#define GL_CLAMP_TO_EDGE 0x812F
#endif

namespace pclscope::gui {
namespace {

bool uploads_allowed = false;  // UI thread only

}  // namespace

void Texture::allow_uploads(bool allowed) { uploads_allowed = allowed; }

Texture::~Texture() {
  if (name_ != 0 && uploads_allowed) glDeleteTextures(1, &name_);
}

void Texture::upload(const layout::Image& image) {
  width_ = image.width;
  height_ = image.height;
  if (!uploads_allowed || image.rgba.empty()) return;
  GLint before = 0;
  glGetIntegerv(GL_TEXTURE_BINDING_2D, &before);
  if (name_ == 0) glGenTextures(1, &name_);
  glBindTexture(GL_TEXTURE_2D, name_);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, width_, height_, 0, GL_RGBA, GL_UNSIGNED_BYTE, image.rgba.data());
  glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(before));
}

ImTextureID Texture::id() const { return reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(name_)); }

}  // namespace pclscope::gui
