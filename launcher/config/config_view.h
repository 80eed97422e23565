#ifndef MUSTER_LAUNCHER_CONFIG_CONFIG_VIEW_H_
#define MUSTER_LAUNCHER_CONFIG_CONFIG_VIEW_H_

#include <string>
#include <vector>

#include "launcher/config/config_meaning.h"

namespace muster::launcher {

// A flag's value, and the source that sets it.
struct ShownFlag {
  std::string name;
  std::string text;
  std::string origin;
};

// The effect of a configuration file in this environment.
struct ConfigView {
  std::string file_name;
  ConfigMeaning meaning;
  // Every flag that the environment, the file or the cluster sets, except
  // --config, in the order of the table of flags.
  std::vector<ShownFlag> flags;
};

// Formats the view for people: flags with their origins, the program,
// variables, and the ignored keys with reasons. Pure.
std::string ConfigText(const ConfigView& view);

// Formats the view as one JSON object with file, format, flags, program,
// environment, ignored and remarks. Pure.
std::string ConfigJson(const ConfigView& view);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_CONFIG_VIEW_H_
