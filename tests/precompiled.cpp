// The source that carries the headers which all tests share (tests/CMakeLists.txt).
