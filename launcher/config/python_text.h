#ifndef MUSTER_LAUNCHER_CONFIG_PYTHON_TEXT_H_
#define MUSTER_LAUNCHER_CONFIG_PYTHON_TEXT_H_

#include <string>

#include "launcher/config/yaml_value.h"

namespace muster::launcher {

// The text that Python's str() returns for the value as read by yaml.safe_load.
// Examples: "None" for null, "True" for yes, "0.1" for 0.10; a list in Python's
// notation. A map gives "{}". The text of a scalar that is neither null nor a
// truth value nor a number with a decimal point is returned unchanged.
std::string PythonText(const YamlValue& value);

std::string Lower(std::string text);
std::string Upper(std::string text);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_PYTHON_TEXT_H_
