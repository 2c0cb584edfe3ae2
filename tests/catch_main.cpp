#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <cstdlib>

int main(int argc, char** argv) {
  ::setenv("PCLSCOPE_SHARED", "none", 1);  // nothing in the home of whoever runs the tests
  return Catch::Session().run(argc, argv);
}
