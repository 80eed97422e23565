#ifndef MUSTER_BASE_STANDARD_DESCRIPTORS_H_
#define MUSTER_BASE_STANDARD_DESCRIPTORS_H_

namespace muster {

// Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed
// (`program >&-`). Otherwise the next file or socket would get that number, and
// any write to stdout or replacement of stdout would hit that file.
//
// A program that links this function runs it before main, even before
// constructors of libraries that open files. Call it first in main as well,
// because only a call links it.
void OpenStandardDescriptors();

}  // namespace muster

#endif  // MUSTER_BASE_STANDARD_DESCRIPTORS_H_
