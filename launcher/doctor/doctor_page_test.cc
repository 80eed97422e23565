#include "launcher/doctor/doctor_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace muster::launcher {
namespace {

TEST(DoctorPage, TheDocumentEqualsTheGeneratedPage) {
  std::ifstream file("docs/DOCTOR.md");
  ASSERT_TRUE(file.is_open());
  std::istringstream table(DoctorPage());
  std::string written, generated;
  for (int line = 1;; ++line) {
    const bool has_written = static_cast<bool>(std::getline(file, written));
    const bool has_generated =
        static_cast<bool>(std::getline(table, generated));
    ASSERT_EQ(has_written, has_generated) << "docs/DOCTOR.md ends at " << line;
    if (!has_written) break;
    ASSERT_EQ(written, generated) << "docs/DOCTOR.md:" << line
                                  << "; renew it: bazel run "
                                     "//launcher/doctor:doctor_page_tool > "
                                     "docs/DOCTOR.md";
  }
}

}  // namespace
}  // namespace muster::launcher
