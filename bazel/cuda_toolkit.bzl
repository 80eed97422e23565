"""Finds the CUDA toolkit, or says that there is none.

@cuda_toolkit//:defs.bzl exports CUDA_FOUND and CUDA_ROOT, so that a machine
without a toolkit skips the CUDA targets instead of failing on them.
"""

_PLACES = ["/usr/local/cuda", "/usr/lib/cuda", "/opt/cuda"]

def _cuda_toolkit_impl(ctx):
    root = ctx.os.environ.get("CUDA_HOME", "")
    for place in ([root] if root else []) + _PLACES:
        if ctx.path(place + "/bin/nvcc").exists:
            root = place
            break
    found = bool(root) and ctx.path(root + "/bin/nvcc").exists
    ctx.file("defs.bzl", "CUDA_FOUND = %s\nCUDA_ROOT = %s\n" %
                         (found, repr(root if found else "")))
    ctx.file("BUILD", "")

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["CUDA_HOME"],
    local = True,
)
