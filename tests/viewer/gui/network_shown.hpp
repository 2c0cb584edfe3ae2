// A network view without a window, on a network of our own making.
#pragma once

#include <catch2/catch.hpp>

#include "tests/viewer/gui/null_frame.hpp"
#include "tests/viewer/network_made.hpp"

namespace pclscope::test {

struct NetworkShown {
  NullFrame frame;
  gui::NetworkState network;
  gui::Scene scene = scene_of(Snapshot());
  gui::Selection selection;
  std::unique_ptr<gui::View> view;
  NetworkShown(std::unique_ptr<gui::View> which, session::NetworkCasePtr with)
      : network(std::move(with)), view(std::move(which)) {
    scene.network = &network;
  }
  void draw() { frame.draw(*view, scene, selection); }
  void settle() {
    draw_until_settled(*view, [&] { draw(); });
  }
  void press(const std::string& name) {
    settle();
    const layout::Point at = mark(*view, name);
    CAPTURE(name);
    REQUIRE(at.x > 0);
    frame.click(*view, scene, selection, at);
    settle();
  }
  bool has(const std::string& name) const { return mark(*view, name).x > 0; }
  // The number of the mark "PREFIX number".
  std::size_t number(const std::string& prefix) const {
    for (const gui::Mark& m : view->marks())
      if (m.name.starts_with(prefix)) return std::stoul(m.name.substr(prefix.size()));
    FAIL("no mark " + prefix);
    return 0;
  }
  std::size_t shown() { return network.shown(scene)->routes.size(); }
  session::NetworkCasePtr current() { return network.current(scene); }
};

// At many sizes, and with the mouse everywhere.
inline void draw_everywhere(NetworkShown& shown) {
  shown.settle();
  for (const float width : {1.f, 9.f, 120.f, 801.f})
    for (const float height : {1.f, 9.f, 60.f, 500.f}) {
      NullFrame::mouse({width / 2, height / 2});
      CHECK(shown.frame.draw(*shown.view, shown.scene, shown.selection, width, height) >= 0);
    }
  for (float x = 0; x < 800; x += 40)
    for (float y = 0; y < 500; y += 40) {
      NullFrame::mouse({x, y});
      shown.draw();
    }
}

}  // namespace pclscope::test
