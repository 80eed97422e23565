"""C++ code generated from .proto files by the system's protoc and gRPC plug-in.

Bazel's cc_proto_library is not used, because it would download a compiler.
"""

def cc_grpc_library(name, src, deps = [], visibility = None):
    """Compiles the messages and services of one .proto file into a cc_library.

    Args:
      name: the library's name.
      src: the .proto file, in this package.
      deps: cc_grpc_library targets of the .proto files that it imports.
      visibility: as in any rule.
    """
    stem = src[:-len(".proto")]
    package = native.package_name()
    outs = [stem + ext for ext in [".pb.h", ".pb.cc", ".grpc.pb.h", ".grpc.pb.cc"]]
    native.genrule(
        name = name + "_protoc",
        srcs = [src] + [dep + "_sources" for dep in deps],
        outs = outs,
        cmd = "/usr/bin/protoc -I. --cpp_out=$(GENDIR) " +
              "--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin " +
              "--grpc_out=$(GENDIR) %s/%s" % (package, src),
    )
    native.filegroup(
        name = name + "_sources",
        srcs = [src],
        visibility = visibility,
    )
    native.cc_library(
        name = name,
        srcs = [o for o in outs if o.endswith(".cc")],
        hdrs = [o for o in outs if o.endswith(".h")],
        copts = ["-w"],
        visibility = visibility,
        deps = deps + ["//bazel:grpc"],
    )
