// Where the parts of the tool lie. In a build folder: bin/ and lib/ side by side. Installed: the programs that users do
// not start are in libexec/pclscope, the libraries in lib, lib64 or lib/MULTIARCH. All are looked for from where the
// running program lies, so a whole installation can be moved.
#pragma once

#include <string>

namespace pclscope {

// The folder of the running program; empty without /proc.
std::string own_folder();

// The path of a part, whether it is there or not: of a program by its name, of a library by its file name.
std::string program_part(const std::string& name, const std::string& from = own_folder());
std::string library_part(const std::string& name, const std::string& from = own_folder());

}  // namespace pclscope
