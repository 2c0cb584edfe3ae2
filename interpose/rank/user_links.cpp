#include "interpose/rank/user_links.hpp"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pclscope {
namespace {

constexpr int most = 128;  // characters of a path in that folder
constexpr const char* names[] = {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12"};

// Makes a folder, if it is not there; whether it is a folder of ours that nobody else can change.
bool own_folder(const char* path) {
  mkdir(path, 0700);
  struct stat found = {};
  return lstat(path, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() && (found.st_mode & 022) == 0;
}

// The length of the path; 0 when it cannot be had.
int user_folder(char (&path)[most]) {
  const int length = snprintf(path, sizeof path, "/tmp/pclscope-%u", geteuid());
  return own_folder(path) ? length : 0;
}

unsigned long long hash_of(const char* text) {  // FNV-1a
  unsigned long long hash = 14695981039346656037ull;
  for (const char* c = text; *c != 0; ++c) hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211ull;
  return hash;
}

bool link_to(const char* library, const char* link) { return symlink(library, link) == 0 || errno == EEXIST; }

}  // namespace

const char* without_blanks(const char* library) {
  if (strpbrk(library, " :\t\n") == nullptr) return library;
  static char link[most];
  const int length = user_folder(link);
  if (length == 0) return library;
  snprintf(link + length, sizeof link - static_cast<size_t>(length), "/libpclscope-%016llx.so", hash_of(library));
  return link_to(library, link) ? link : library;
}

void take_mpi(const char* library) {
  char folder[most], link[most + 32];
  const int length = user_folder(folder);
  if (length == 0) return;
  snprintf(folder + length, sizeof folder - static_cast<size_t>(length), "/mpi-%016llx", hash_of(library));
  if (!own_folder(folder)) return;
  for (const char* name : names) {
    snprintf(link, sizeof link, "%s/%s", folder, name);
    if (!link_to(library, link)) return;
  }
  const char* before = getenv("LD_LIBRARY_PATH");
  const bool others = before != nullptr && *before != 0;
  const size_t size = strlen(folder) + (others ? strlen(before) : 0) + 2;
  char* path = static_cast<char*>(malloc(size));
  if (path == nullptr) return;
  snprintf(path, size, "%s%s%s", folder, others ? ":" : "", others ? before : "");
  setenv("LD_LIBRARY_PATH", path, 1);
  free(path);
}

}  // namespace pclscope
