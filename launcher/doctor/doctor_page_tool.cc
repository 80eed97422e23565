// A program that prints the file docs/DOCTOR.md.
#include <cstdio>

#include "launcher/doctor/doctor_page.h"

int main() {
  std::fputs(muster::launcher::DoctorPage().c_str(), stdout);
  return 0;
}
