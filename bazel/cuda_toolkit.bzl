"""Finds the CUDA toolkit, or reports that there is none.

@cuda_toolkit//:defs.bzl exports CUDA_FOUND and CUDA_ROOT, and
@cuda_toolkit//:runtime is the static CUDA runtime with its headers. A machine
without a toolkit skips the targets that need it instead of failing on them.
"""

_PLACES = ["/usr/local/cuda", "/usr/lib/cuda", "/opt/cuda"]

_RUNTIME = """
cc_library(
    name = "runtime",
    hdrs = glob(["include/**/*.h", "include/**/*.hpp"]),
    includes = ["include"],
    linkopts = ["-L{root}/lib64", "-l:libcudart_static.a", "-ldl", "-lrt", "-lpthread"],
    visibility = ["//visibility:public"],
)
"""

_NO_RUNTIME = """
cc_library(
    name = "runtime",
    target_compatible_with = ["@platforms//:incompatible"],
    visibility = ["//visibility:public"],
)
"""

def _cuda_toolkit_impl(ctx):
    named = ctx.os.environ.get("CUDA_HOME", "")
    root = ""
    for place in ([named] if named else []) + _PLACES:
        if ctx.path(place + "/bin/nvcc").exists:
            root = place
            break
    ctx.file("defs.bzl", "CUDA_FOUND = %s\nCUDA_ROOT = %s\n" %
                         (bool(root), repr(root)))
    if root:
        ctx.symlink(root + "/include", "include")
        ctx.file("BUILD", _RUNTIME.format(root = root))
    else:
        ctx.file("BUILD", _NO_RUNTIME)

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["CUDA_HOME"],
    local = True,
)
