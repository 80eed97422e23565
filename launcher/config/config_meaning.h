#ifndef MUSTER_LAUNCHER_CONFIG_CONFIG_MEANING_H_
#define MUSTER_LAUNCHER_CONFIG_CONFIG_MEANING_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "launcher/options/defaults.h"

namespace muster::launcher {

enum class ConfigFormat { kOwn, kAccelerate, kInstructLab };

// A key that has no effect in Muster, with the reason.
struct IgnoredKey {
  std::string key;  // dotted path of the key: "train.model_path"
  int line = 0;
  std::string why;
};

// The settings of a configuration file.
struct ConfigMeaning {
  ConfigFormat format = ConfigFormat::kOwn;
  Defaults defaults;
  std::vector<IgnoredKey> ignored;
};

// Facts outside of a configuration file's text on which the meaning of the file
// depends.
struct ConfigSurroundings {
  std::string file_name;  // name of the configuration file, for messages
  std::string working_directory;
  std::string python_path;  // value of PYTHONPATH in this process
};

// Formats the origin of a flag: "FILE:LINE: KEY".
inline std::string OriginOf(const ConfigSurroundings& surroundings, int line,
                            const std::string& key) {
  return absl::StrCat(surroundings.file_name, ":", line, ": ", key);
}

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_CONFIG_MEANING_H_
