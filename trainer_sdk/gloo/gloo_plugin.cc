#include "trainer_sdk/gloo/gloo_plugin.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/dynamic_library.h"
#include "base/own_program.h"

namespace muster {
namespace {

constexpr char kFile[] = "libmuster_gloo.so";
constexpr char kEntry[] = "MusterGlooPlugin";

// The file that contains this code: the program or the SDK's shared library.
std::string OwnFile() {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&LoadGlooPlugin), &info,
              reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 &&
      map != nullptr && map->l_name[0] != '\0') {
    return map->l_name;
  }
  return OwnProgram();  // the linker knows the program by an empty name
}

absl::StatusOr<const GlooPlugin*> Load() {
  const std::string own = OwnFile();
  const std::string folder = own.substr(0, own.rfind('/'));
  const std::vector<std::string> places = {
      absl::StrCat(folder, "/", kFile),
      absl::StrCat(folder, "/../lib/", kFile),
      absl::StrCat(OwnProgram(), ".runfiles/muster/trainer_sdk/gloo/", kFile),
  };
  std::string path = kFile;
  for (const std::string& place : places) {
    if (access(place.c_str(), F_OK) == 0) {
      path = place;
      break;
    }
  }
  const absl::StatusOr<DynamicLibrary> file = DynamicLibrary::Load(path);
  if (!file.ok() && path != kFile) {
    return absl::NotFoundError(
        absl::StrCat("the Gloo transport: ", file.status().message(),
                     "; install libgloo (Debian: libgloo0)"));
  }
  if (!file.ok()) {
    return absl::NotFoundError(absl::StrCat(
        "the Gloo transport needs ", kFile, ", which is neither in ", folder,
        " nor in ", folder,
        "/../lib nor where the dynamic linker looks (LD_LIBRARY_PATH): ",
        file.status().message(),
        "; Muster's tools/install puts it into PREFIX/lib"));
  }
  const GlooPlugin* (*entry)() = nullptr;
  if (!file->Find(kEntry, &entry) || entry()->version != GlooPlugin::kVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the Gloo transport: ", path,
                     " belongs to another version of Muster; install the one "
                     "of this version"));
  }
  return entry();
}

}  // namespace

absl::StatusOr<const GlooPlugin*> LoadGlooPlugin() {
  static const auto* const plugin =
      new absl::StatusOr<const GlooPlugin*>(Load());
  return *plugin;
}

}  // namespace muster
