// Reads the versions of driver and libraries.

#include <dlfcn.h>
#include <unistd.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/health/read_node.h"
#include "agent/health/small_file.h"
#include "base/bounded_file.h"
#include "base/environment_value.h"

namespace muster::agent {
namespace {

constexpr size_t kMaxFolders = 16;

// Whether `word` has the form of a version such as "550.54.15": only digits and
// dots, at least one dot, and a digit first.
bool IsVersion(const std::string& word) {
  if (word.empty() || word.size() > 32 || !absl::ascii_isdigit(word[0])) {
    return false;
  }
  return word.find('.') != std::string::npos &&
         word.find_first_not_of("0123456789.") == std::string::npos;
}

// The version of NVIDIA's kernel driver, found in a line such as "NVRM version:
// NVIDIA UNIX x86_64 Kernel Module  550.54.15 Tue …".
std::string KernelDriver(const std::string& root) {
  const std::string text =
      ReadBeginning(root + "/proc/driver/nvidia/version", kMaxKernelFileBytes)
          .value_or("");
  const std::string line = text.substr(0, text.find('\n'));
  for (const auto word : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
    if (IsVersion(std::string(word))) return std::string(word);
  }
  return "";
}

// Calls the version function `function` of `library`; 0 if the library or the
// function does not exist.
int AskVersion(const std::string& library, const char* function) {
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return 0;
  using Function = int (*)(int*);
  const auto ask = reinterpret_cast<Function>(dlsym(handle, function));
  int version = 0;
  if (ask == nullptr || ask(&version) != 0) version = 0;
  // Return without unloading the library: threads that it has started would not
  // survive the unload.
  return version;
}

std::string NcclText(int version) {
  if (version <= 0) return "";
  // From NCCL 2.9 on, minor and patch have two digits each: 22105 is 2.21.5,
  // and 2708 is 2.7.8.
  const int unit = version < 10000 ? 1000 : 10000;
  return absl::StrCat(version / unit, ".", version % unit / 100, ".",
                      version % 100);
}

// Folders that may be the prefix of a Python installation (the folder with its
// bin/ and lib/). These are the values of VIRTUAL_ENV and CONDA_PREFIX, the
// prefix of the first python3 in PATH, and the system's prefixes. In a virtual
// environment python3 is a symbolic link. The link is not followed, because the
// packages are beside the link.
std::vector<std::string> Prefixes(
    const std::string& root,
    const std::map<std::string, std::string>& environment) {
  std::vector<std::string> prefixes;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const auto prefix = NonEmptyEnvironmentValue(environment, name);
    if (prefix) prefixes.push_back(root + *prefix);
  }
  const std::string path = EnvironmentValue(environment, "PATH").value_or("");
  for (const auto part : absl::StrSplit(path, ':')) {
    const std::string folder(part);
    if (!absl::EndsWith(folder, "/bin") ||
        access((root + folder + "/python3").c_str(), F_OK) != 0) {
      continue;
    }
    prefixes.push_back(root + folder.substr(0, folder.size() - 4));
    break;
  }
  prefixes.push_back(root + "/usr/local");
  prefixes.push_back(root + "/usr");
  return prefixes;
}

// The folders that may contain the packages of the Python installation whose
// prefix is `prefix`.
std::vector<std::string> PackageFolders(const std::string& prefix) {
  std::vector<std::string> folders;
  for (const std::string& name : ListFolder(prefix + "/lib")) {
    if (!absl::StartsWith(name, "python3") || folders.size() >= kMaxFolders) {
      continue;
    }
    for (const char* kind : {"/site-packages", "/dist-packages"}) {
      folders.push_back(absl::StrCat(prefix, "/lib/", name, kind));
    }
  }
  return folders;
}

// The quoted text in "NAME = 'text'" or "NAME: Optional[str] = 'text'" for the
// given name.
std::string Assigned(const std::string& text, const std::string& name) {
  for (const auto part : absl::StrSplit(text, '\n')) {
    const std::string line(part);
    if (!absl::StartsWith(line, name)) continue;
    const size_t equals = line.find('=');
    const size_t open = line.find_first_of("'\"", equals);
    if (equals == std::string::npos || open == std::string::npos) continue;
    const size_t close = line.find(line[open], open + 1);
    if (close == std::string::npos || close - open > 64) continue;
    return line.substr(open + 1, close - open - 1);
  }
  return "";
}

// The version in the name of an NCCL package's folder, such as
// "nvidia_nccl_cu12-2.21.5.dist-info".
std::string NcclPackage(const std::string& folder) {
  for (const std::string& name : ListFolder(folder)) {
    if (!absl::StartsWith(name, "nvidia_nccl_cu") ||
        !absl::EndsWith(name, ".dist-info")) {
      continue;
    }
    const size_t dash = name.find('-');
    if (dash == std::string::npos) continue;
    const std::string version =
        name.substr(dash + 1, name.size() - dash - 1 - 10);
    if (IsVersion(version)) return version;
  }
  return "";
}

void FindTorch(const std::string& root,
               const std::map<std::string, std::string>& environment,
               LibraryFacts& facts) {
  for (const std::string& prefix : Prefixes(root, environment)) {
    for (const std::string& folder : PackageFolders(prefix)) {
      const auto text = ReadBeginning(folder + "/torch/version.py", 4096);
      if (!text) continue;
      facts.torch_version = Assigned(*text, "__version__");
      facts.torch_cuda = Assigned(*text, "cuda");
      facts.torch_nccl = NcclPackage(folder);
      return;
    }
  }
}

}  // namespace

LibraryFacts ReadLibraries(
    const LibraryPaths& paths,
    const std::map<std::string, std::string>& environment) {
  LibraryFacts facts;
  facts.kernel_driver = KernelDriver(paths.root);
  for (const std::string& library : paths.cuda_runtimes) {
    const int version = AskVersion(library, "cudaRuntimeGetVersion");
    if (version <= 0) continue;
    facts.runtime_cuda = version;
    break;
  }
  facts.toolkit_nccl = NcclText(AskVersion(paths.nccl, "ncclGetVersion"));
  FindTorch(paths.root, environment, facts);
  return facts;
}

}  // namespace muster::agent
