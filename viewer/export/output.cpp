#include "viewer/export/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace pclscope::exporting {
namespace {

namespace fs = std::filesystem;

// Why it must not be replaced; empty: it may be.
std::string why_kept(const std::string& path, bool folder, bool force) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status)) return {};
  const fs::file_status what = fs::status(path, error);
  if (folder && !fs::is_directory(what)) return path + " exists and is no folder, which is what would be written";
  if (!folder && fs::is_directory(what)) return path + " is a folder: give the name of a file";
  if (!folder && !fs::is_regular_file(what)) return path + " is no regular file";
  if (!force) return path + " exists: --force replaces it, -o gives another name";
  return {};
}

}  // namespace

Error not_written(const std::string& path, int error) {
  const ErrorCode code = error == ENOSPC || error == EDQUOT || error == EFBIG  ? ErrorCode::no_space
                         : error == EACCES || error == EPERM || error == EROFS ? ErrorCode::not_permitted
                         : error == ENOENT || error == ENOTDIR                 ? ErrorCode::not_found
                                                                               : ErrorCode::io;
  return Error{code, "cannot write " + path + ": " + std::strerror(error)};
}

Output::Output(std::string path, std::string growing, bool folder)
    : path_(std::move(path)), growing_(std::move(growing)), folder_(folder) {}

Output::Output(Output&& other) noexcept
    : path_(std::move(other.path_)), growing_(std::exchange(other.growing_, {})), folder_(other.folder_) {}

Output::~Output() {
  std::error_code error;
  if (!growing_.empty()) fs::remove_all(growing_, error);
}

Result<Output> Output::begin(const std::string& path, bool folder, bool force) {
  std::string name = path;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  if (const std::string why = why_kept(name, folder, force); !why.empty()) return Error{ErrorCode::in_use, why};
  // A link stays a link: what it leads to is replaced.
  std::error_code error;
  if (fs::exists(name, error))
    if (const fs::path real = fs::canonical(name, error); !error) name = real.string();
  const fs::path file(name);
  const std::string growing = (file.parent_path() / ("." + file.filename().string() + ".pclscope-XXXXXX")).string();
  std::string made = growing;
  if (::mkdtemp(made.data()) == nullptr) return not_written(path, errno);
  if (folder) return Output(name, made, true);
  // A file needs no folder, but its name: nobody else's can be there.
  if (::rmdir(made.c_str()) != 0) return not_written(path, errno);
  const int fd = ::open(made.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return not_written(path, errno);
  ::close(fd);
  return Output(name, made, false);
}

Status Output::finish() {
  if (folder_ && ::access(path_.c_str(), F_OK) == 0) {
    const std::string old = growing_ + ".old";
    if (::rename(path_.c_str(), old.c_str()) != 0) return not_written(path_, errno);
    if (::rename(growing_.c_str(), path_.c_str()) != 0) {
      const int error = errno;
      (void)::rename(old.c_str(), path_.c_str());
      return not_written(path_, error);
    }
    growing_ = old;  // is removed
    return {};
  }
  if (::rename(growing_.c_str(), path_.c_str()) != 0) return not_written(path_, errno);
  growing_.clear();
  return {};
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "we")) {
  if (file_ == nullptr) error_ = errno;
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void OutputFile::write(std::string_view bytes) {
  if (error_ != 0) return;
  errno = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) error_ = errno != 0 ? errno : EIO;
}

Status OutputFile::status() const { return error_ == 0 ? Status{} : Status(not_written(path_, error_)); }

Status OutputFile::close() {
  if (file_ != nullptr) {
    errno = 0;
    const bool flushed = std::fflush(file_) == 0 && ::fsync(::fileno(file_)) == 0;
    if (!flushed && error_ == 0) error_ = errno != 0 ? errno : EIO;
    std::fclose(std::exchange(file_, nullptr));
  }
  return status();
}

}  // namespace pclscope::exporting
