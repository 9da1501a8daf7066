# LLVM and what belongs to it, all of one version.
{
  lib,
  stdenv,
  fetchurl,
  makeScope,
  wrapCC,
  cmake,
  ninja,
  python3,
  zlib,
  libxml2,
  libffi,
  binutils,
  glibc ? null,
  version,
}:
let
  parts = self: {
    llvm = {
      description = "Collection of libraries for compilers";
      needs = [
        zlib
        libffi
      ];
    };
    clang-unwrapped = {
      dir = "clang";
      description = "Compiler for C, C++ and Objective-C, without the libc it needs";
      needs = [
        self.llvm
        libxml2
      ];
    };
    lld = {
      description = "Linker of the LLVM project";
      needs = [ self.llvm ];
    };
    lldb = {
      description = "Debugger of the LLVM project";
      needs = [
        self.llvm
        self.clang-unwrapped
        python3
      ];
    };
    libcxx = {
      description = "C++ standard library of the LLVM project";
    };
    compiler-rt = {
      description = "Low-level routines that compiled code calls";
    };
    openmp = {
      description = "Runtime for OpenMP programs";
      needs = [ self.llvm ];
    };
  };

  src = fetchurl {
    url = "https://github.com/llvm/llvm-project/releases/download/llvmorg-${version}/llvm-project-${version}.src.tar.xz";
  };

  part =
    pname:
    {
      description,
      dir ? pname,
      needs ? [ ],
    }:
    stdenv.mkDerivation {
      inherit pname version src;
      sourceRoot = dir;
      nativeBuildInputs = [
        cmake
        ninja
        python3
      ];
      buildInputs = needs;
      cmakeFlags = [
        "-DCMAKE_BUILD_TYPE=Release"
        (lib.cmakeBool "LLVM_LINK_LLVM_DYLIB" (pname == "llvm"))
      ];
      meta = {
        inherit description;
        homepage = "https://llvm.org";
        license = [
          lib.licenses.asl20
          lib.licenses.ncsa
        ];
        maintainers = [ lib.teams.core ];
      };
    };
in
lib.fix (
  self:
  lib.mapAttrs part (parts self)
  // {
    clang = wrapCC {
      cc = self.clang-unwrapped;
      libc = glibc;
      bintools = binutils;
    };
  }
)
