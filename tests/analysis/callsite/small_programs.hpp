// Small programs that are compiled, started and asked from where they call: each call of `called(LINE)` prints its own
// return address and the line it was given.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace pclscope::testing {

class Workshop {
 public:
  Workshop() {
    char name[] = "/tmp/pcl-lines-XXXXXX";
    directory_ = ::mkdtemp(name);
    write("called.c",
          "#include <stdio.h>\n"
          "void called(int line) { printf(\"%p %d\\n\", __builtin_return_address(0), line); fflush(stdout); }\n");
    shell("cc -O1 -fPIC -c called.c -o called.o");
  }
  ~Workshop() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Workshop(const Workshop&) = delete;

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  bool try_shell(const std::string& command) const {
    return std::system(("cd '" + directory_ + "' && " + command + " >log 2>&1").c_str()) == 0;
  }
  void shell(const std::string& command) const {
    if (!try_shell(command)) throw std::runtime_error(command + "\n" + read("log"));
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  // What the command prints.
  std::string ask(const std::string& command) const {
    shell("(" + command + " >answer)");
    return read("answer");
  }

 private:
  std::string directory_;
};

// A program that prints its calls on standard output and ends with its standard input.
class Running {
 public:
  explicit Running(const std::string& program, const std::string& argument = "") {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::execl(program.c_str(), program.c_str(), argument.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = ::fdopen(out[0], "r");
    first_ = read();  // from here on it is this program
  }
  ~Running() { end(); }
  Running(const Running&) = delete;

  struct Call {
    std::uint64_t address = 0;
    std::uint32_t line = 0;
  };
  Call next() {
    if (first_.address == 0) return read();
    return std::exchange(first_, {});
  }
  void go_on() {
    if (::write(to_, "\n", 1) != 1) throw std::runtime_error("the program is gone");
  }
  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  void end() {
    if (pid_ < 0) return;
    ::close(to_);
    std::fclose(from_);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  Call read() {
    unsigned long long address = 0;
    Call call;
    if (std::fscanf(from_, "%llx %u", &address, &call.line) != 2) throw std::runtime_error("the program is silent");
    call.address = address;
    return call;
  }

  Call first_;
  pid_t pid_ = -1;
  int to_ = -1;
  std::FILE* from_ = nullptr;
};

}  // namespace pclscope::testing
