// The commands of pclscope. Each takes the words after its name and returns the exit status: 0 done, 1 could not,
// 2 wrong usage; `run` returns the application's own.
#pragma once

#include <string>
#include <vector>

namespace pclscope::commands {

int run(const std::vector<std::string>& words);
int list(const std::vector<std::string>& words);
int attach(const std::vector<std::string>& words);
int detach(const std::vector<std::string>& words);
int key(const std::vector<std::string>& words);
int relay(const std::vector<std::string>& words);
int view(const std::vector<std::string>& words);
int watch(const std::vector<std::string>& words);
int inspect(const std::vector<std::string>& words);
int report(const std::vector<std::string>& words);
int map(const std::vector<std::string>& words);
int doctor(const std::vector<std::string>& words);
int route(const std::vector<std::string>& words);

}  // namespace pclscope::commands
