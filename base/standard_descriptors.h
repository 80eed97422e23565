#ifndef MUSTER_BASE_STANDARD_DESCRIPTORS_H_
#define MUSTER_BASE_STANDARD_DESCRIPTORS_H_

namespace muster {

// Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed
// (`program >&-`). Otherwise the next file or socket would get that number, and
// output to stdout would go into that file.
//
// A program that links this function runs it before main, even before
// constructors of libraries that open files. Main must call it as well, because
// the linker includes this function only if there is a call of it.
void OpenStandardDescriptors();

}  // namespace muster

#endif  // MUSTER_BASE_STANDARD_DESCRIPTORS_H_
