// The keys that guard TCP endpoints: one file per user holds the key pair of the publisher and that of the viewer.
// Whoever can read the file is the user. For analysis/wire and `pclscope key`; the secret parts leave it nowhere.
#pragma once

#include <string>

#include "analysis/values/result.hpp"

namespace pclscope::wire {

struct CurveKeys {  // 40 characters each (Z85)
  std::string server_public;
  std::string server_secret;
  std::string client_public;
  std::string client_secret;
};

// $PCLSCOPE_KEY_FILE, else curve.key in the directory that the user's nodes share, else (there is none, or it cannot be
// used) in the runtime directory.
Result<std::string> key_file_path();

// Reads the file. Fails with not_found, not_permitted (others can read it), damaged.
Result<CurveKeys> load_keys(const std::string& path);

// Reads the file, or makes it (mode 0600) when there is none. When several do so at once, all get the same keys.
Result<CurveKeys> load_or_create_keys(const std::string& path);

// Those of key_file_path(), made if need be. May wait for a home on the network.
Result<CurveKeys> own_keys();

// Makes new keys (mode 0600) in the place of whatever is there. Publishers that run keep the old ones.
Result<CurveKeys> replace_keys(const std::string& path);

}  // namespace pclscope::wire
