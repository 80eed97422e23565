#ifndef MUSTER_LAUNCHER_CONFIG_PYTHON_TEXT_H_
#define MUSTER_LAUNCHER_CONFIG_PYTHON_TEXT_H_

#include <string>

#include "launcher/config/yaml_value.h"

namespace muster::launcher {

// str() of what Python's yaml.safe_load makes of the value: "None", "True",
// "0.1" for 0.10; a list as Python writes it. Other text stays as it is.
std::string PythonText(const YamlValue& value);

std::string Lower(std::string text);
std::string Upper(std::string text);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_PYTHON_TEXT_H_
