#ifndef MUSTER_LAUNCHER_CONFIG_CONFIG_VIEW_H_
#define MUSTER_LAUNCHER_CONFIG_CONFIG_VIEW_H_

#include <string>
#include <vector>

#include "launcher/config/config_meaning.h"

namespace muster::launcher {

// A flag as it would hold, and who says so.
struct ShownFlag {
  std::string name;
  std::string text;
  std::string origin;
};

// What a file would do in this environment.
struct ConfigView {
  std::string file_name;
  ConfigMeaning meaning;
  std::vector<ShownFlag> flags;  // all that anybody gives, in the table's order
};

// For a person: flags with their origins, the program, variables, what is
// ignored and why. Pure.
std::string ConfigText(const ConfigView& view);

// For programs: one JSON object with file, format, flags, program, environment,
// ignored and remarks. Pure.
std::string ConfigJson(const ConfigView& view);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_CONFIG_VIEW_H_
