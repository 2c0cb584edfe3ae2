// Which part of the matrix is in sight, in units of its axis (layout/matrix_order.hpp), and a lens on it.
#pragma once

#include "viewer/layout/geometry.hpp"
#include "viewer/layout/matrix_picture.hpp"

namespace pclscope::gui {

// Zoomed by the wheel, panned by the right button or arrow keys; Home: all of it. Both axes alike.
class MatrixLook {
 public:
  // Once a frame over the item that covers `area`. `units`: of the axis, when it is known; 0: not.
  void react(const layout::Rect& area, double units, bool hovered);
  layout::MatrixSight sight(const layout::Rect& area) const {
    return {x_, y_, scale_, static_cast<int>(area.width()), static_cast<int>(area.height())};
  }
  bool known() const { return scale_ > 0; }
  void show_all() { moved_ = false; }

 private:
  double x_ = 0, y_ = 0, scale_ = 0, units_ = 0;
  bool moved_ = false;
};

// Where a sight's units lie on the screen.
inline layout::Point on_screen(const layout::MatrixSight& sight, layout::Point low, double x, double y) {
  return {low.x + static_cast<float>((x - sight.x) * sight.scale),
          low.y + static_cast<float>((y - sight.y) * sight.scale)};
}
inline double unit_x(const layout::MatrixSight& sight, layout::Point low, float x) {
  return sight.x + static_cast<double>(x - low.x) / sight.scale;
}
inline double unit_y(const layout::MatrixSight& sight, layout::Point low, float y) {
  return sight.y + static_cast<double>(y - low.y) / sight.scale;
}

}  // namespace pclscope::gui
