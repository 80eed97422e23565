"""C++ from .proto files with the system's protoc and gRPC plug-in.

Bazel's own cc_proto_library would download a compiler of its own.
"""

def cc_grpc_library(name, src, deps = [], visibility = None):
    """Compiles one .proto, messages and services, into one cc_library.

    Args:
      name: the library's name.
      src: the .proto file, in this package.
      deps: cc_grpc_library targets of the .proto files that it imports.
      visibility: as everywhere.
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
