#ifndef MUSTER_LAUNCHER_CONFIG_CONFIG_MEANING_H_
#define MUSTER_LAUNCHER_CONFIG_CONFIG_MEANING_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "launcher/options/defaults.h"

namespace muster::launcher {

enum class ConfigFormat { kOwn, kAccelerate, kInstructLab };

// A key that has no effect here, and why.
struct IgnoredKey {
  std::string key;  // "train.model_path"
  int line = 0;
  std::string why;
};

// What a configuration file says of a run.
struct ConfigMeaning {
  ConfigFormat format = ConfigFormat::kOwn;
  Defaults defaults;
  std::vector<IgnoredKey> ignored;
};

// Where a file is read: what its meaning depends on besides its text.
struct ConfigSurroundings {
  std::string file_name;  // for messages
  std::string working_directory;
  std::string python_path;  // PYTHONPATH
};

// "FILE:LINE: KEY", a flag's origin.
inline std::string OriginOf(const ConfigSurroundings& surroundings, int line,
                            const std::string& key) {
  return absl::StrCat(surroundings.file_name, ":", line, ": ", key);
}

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_CONFIG_MEANING_H_
