// The directory of the user's home that his nodes share, as the library and the commands make and judge it: what is in
// there may be believed, because nobody else can put anything there.
#pragma once

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pclscope::record {

inline constexpr char shared_variable[] = "PCLSCOPE_SHARED";  // its path; "none": nothing is shared
inline constexpr char shared_name[] = ".pclscope";            // else this, in the home
inline constexpr char dormant_suffix[] = ".dormant";          // of files in its folder `jobs`

// Whether others can put something in the place of an entry of ours: where they may write, unless (sticky, as /tmp)
// only the owner of an entry may remove it.
inline bool keeps_entries(const struct stat& directory) {
  const bool others_write = (directory.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return S_ISDIR(directory.st_mode) && (!others_write || (directory.st_mode & S_ISVTX) != 0);
}
// The directory in which it is to lie.
inline bool can_hold_shared(const struct stat& above) {
  return keeps_entries(above) && (above.st_uid == geteuid() || above.st_uid == 0);
}

enum class Made { good, failed, not_ours, open_to_others };  // failed: errno says why

// Made with mode 0700, or found as such. Anybody may have put anything under this name: a symbolic link, a directory of
// theirs.
inline Made make_private(const char* path) {
  if (mkdir(path, 0700) != 0 && errno != EEXIST) return Made::failed;
  struct stat found = {};
  if (lstat(path, &found) != 0) return Made::failed;
  if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid()) return Made::not_ours;
  return (found.st_mode & 077) != 0 ? Made::open_to_others : Made::good;
}

}  // namespace pclscope::record
