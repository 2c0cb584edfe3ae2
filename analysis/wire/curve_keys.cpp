#include "analysis/wire/curve_keys.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "analysis/discovery/directories.hpp"
#include "analysis/discovery/private_file.hpp"

namespace pclscope::wire {
namespace {

constexpr char first_line[] = "pclscope-keys 1";

Error damaged(const std::string& path) {
  return {ErrorCode::damaged, "key file " + path + " is damaged: remove it, the next job makes a new one"};
}

bool is_key(const std::string& text) {
  std::uint8_t binary[32];
  return text.size() == 40 && zmq_z85_decode(binary, text.c_str()) != nullptr;
}

Result<CurveKeys> parse(const std::string& path, const std::string& content) {
  std::istringstream lines(content);
  std::string line;
  CurveKeys keys;
  if (!std::getline(lines, line) || line != first_line) return damaged(path);
  for (std::string name, key; lines >> name >> key;) {
    if (!is_key(key)) return damaged(path);
    if (name == "server-public") keys.server_public = key;
    if (name == "server-secret") keys.server_secret = key;
    if (name == "client-public") keys.client_public = key;
    if (name == "client-secret") keys.client_secret = key;
  }
  if (keys.server_public.empty() || keys.server_secret.empty() || keys.client_public.empty() ||
      keys.client_secret.empty()) {
    return damaged(path);
  }
  return keys;
}

Result<std::string> fresh_keys() {
  char server_public[41], server_secret[41], client_public[41], client_secret[41];
  if (zmq_curve_keypair(server_public, server_secret) != 0 || zmq_curve_keypair(client_public, client_secret) != 0) {
    return Error{ErrorCode::not_permitted, "this libzmq has no CURVE encryption: publish over ipc:// only"};
  }
  return std::string(first_line) + "\nserver-public " + server_public + "\nserver-secret " + server_secret +
         "\nclient-public " + client_public + "\nclient-secret " + client_secret + "\n";
}

}  // namespace

Result<std::string> key_file_path() {
  if (const char* path = std::getenv("PCLSCOPE_KEY_FILE"); path && *path) return std::string(path);
  if (const auto shared = discovery::shared_directory()) return *shared + "/curve.key";
  const auto directory = discovery::runtime_directory();
  if (!directory) return directory.error();
  return *directory + "/curve.key";
}

Result<CurveKeys> load_keys(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT) {
    return Error{ErrorCode::not_found,
                 "no key file " + path + ": copy it from where the job runs (PCLSCOPE_KEY_FILE names another place)"};
  }
  if (fd < 0) return Error{ErrorCode::not_permitted, "cannot read key file " + path + ": " + std::strerror(errno)};
  struct stat found {};
  char content[1024];
  const bool known = ::fstat(fd, &found) == 0;
  const ssize_t bytes = known && S_ISREG(found.st_mode) ? ::read(fd, content, sizeof content) : -1;
  ::close(fd);
  if (!known || found.st_uid != ::geteuid() || (found.st_mode & 077) != 0) {
    return Error{ErrorCode::not_permitted,
                 "key file " + path + " must belong to you and be closed to others: chmod 600, or remove it"};
  }
  if (bytes <= 0) return damaged(path);
  return parse(path, std::string(content, static_cast<std::size_t>(bytes)));
}

Result<CurveKeys> load_or_create_keys(const std::string& path) {
  auto keys = load_keys(path);
  if (keys || keys.error().code != ErrorCode::not_found) return keys;
  const auto content = fresh_keys();
  if (!content) return content.error();
  if (const Status created = discovery::write_private(path, *content, discovery::Existing::keep); !created)
    return created.error();
  return load_keys(path);
}

Result<CurveKeys> own_keys() {
  const auto path = key_file_path();
  return path ? load_or_create_keys(*path) : path.error();
}

Result<CurveKeys> replace_keys(const std::string& path) {
  const auto content = fresh_keys();
  if (!content) return content.error();
  if (const Status created = discovery::write_private(path, *content, discovery::Existing::replace); !created)
    return created.error();
  return load_keys(path);
}

}  // namespace pclscope::wire
