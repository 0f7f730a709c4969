"""cc_proto: a C++ library of .proto files, made by the system's protoc."""

def cc_proto(name, srcs, deps = [], testonly = False, visibility = None):
    """A cc_library with the generated code of `srcs`.

    Args:
      name: target name; //p:name is also the label that other cc_proto targets list in deps.
      srcs: .proto files of this package.
      deps: cc_proto targets with the files that `srcs` import, written with their colon ("//p:n").
      testonly: as of any rule.
      visibility: as of any rule.
    """
    native.filegroup(
        name = name + "_sources",
        srcs = srcs + [dep + "_sources" for dep in deps],
        testonly = testonly,
        visibility = visibility,
    )
    native.genrule(
        name = name + "_code",
        srcs = [":" + name + "_sources"] + srcs,
        outs = [
            src.replace(".proto", suffix)
            for src in srcs
            for suffix in [".pb.h", ".pb.cc"]
        ],
        testonly = testonly,
        # Imports are relative to the workspace; google/protobuf/*.proto come with the system.
        cmd = "/usr/bin/protoc -I. -I/usr/include --cpp_out=$(GENDIR) " +
              " ".join(["$(location %s)" % src for src in srcs]),
    )
    native.cc_library(
        name = name,
        srcs = [src.replace(".proto", ".pb.cc") for src in srcs],
        hdrs = [src.replace(".proto", ".pb.h") for src in srcs],
        deps = deps + ["//third_party/protobuf"],
        testonly = testonly,
        visibility = visibility,
    )
