"""cuda_kernels: kernel sources compiled for a GPU, and for tests on the CPU."""

load("//bazel:cuda.bzl", "cuda_library")

def cuda_kernels(name, srcs, hdrs, deps, emulation, visibility = None):
    """Compiles .cu sources into two libraries with the same functions.

    Programs that run on a GPU link NAME_cuda. Tests link NAME_emulated: the
    same sources compiled as C++, where `emulation` provides CUDA's execution
    model. NAME_emulated needs no CUDA toolkit.

    Args:
      name: the prefix of both libraries' names.
      srcs: .cu files.
      hdrs: headers that only these sources include.
      deps: C++ libraries; the sources' public headers are in one of them.
      emulation: the library of CUDA's execution model.
      visibility: as in any rule.
    """
    cuda_library(
        name = name + "_cuda",
        srcs = srcs,
        hdrs = hdrs,
        # Users of the kernels depend only on their headers, so the linker may
        # see this library before its users. Without alwayslink the linker would
        # then drop the library.
        alwayslink = True,
        deps = deps,
        visibility = visibility,
    )
    package = native.package_name()
    as_cpp = []
    for source in srcs:
        as_cpp.append(source.replace(".cu", "_emulated.cc"))
        native.genrule(
            name = as_cpp[-1] + "_rule",
            srcs = [],
            outs = [as_cpp[-1]],
            cmd = "echo '#include \"%s/%s\"' >$@" % (package, source),
            visibility = ["//visibility:private"],
        )
    native.cc_library(
        name = name + "_emulated",
        testonly = True,
        srcs = as_cpp + hdrs,
        # The emulation runs millions of GPU threads one after the other, which is
        # too slow without optimisation.
        copts = ["-O2", "-Wall", "-Wextra", "-Werror"],
        textual_hdrs = srcs,
        alwayslink = True,
        deps = deps + [emulation],
        visibility = visibility,
    )
