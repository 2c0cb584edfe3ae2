#include "tests/test_data.hpp"

namespace pclscope::test {

std::string data_file(const std::string& name) { return PCLSCOPE_TEST_DATA "/" + name; }

}  // namespace pclscope::test
