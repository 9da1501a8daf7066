# The bootstrap: from two downloaded files to an environment built by itself.
#
#     seed ---> tools ---> libc ---> compiler ---> final
#
# Each stage is a function of the package set of the stage before it, and gives the arguments of
# `top-level/stage.nix`.
{
  lib,
  config,
  platform,
}:
let
  inherit (platform) system isLinux;
  makeStdenv = import ./. { inherit lib config platform; };
  seeds = import ./seeds.nix;

  seed =
    name: extra:
    derivation (
      {
        inherit name;
        builder = "builtin:fetchurl";
        system = "builtin";
        url = "${config.mirrors.upstream}bootstrap/${system}/${name}";
        outputHash = seeds.${system}.${if name == "sh" then "shell" else "tools"};
        preferLocalBuild = true;
      }
      // extra
    );

  bootstrapTools =
    derivation {
      name = "bootstrap-tools";
      inherit system;
      builder = seed "sh" {
        executable = true;
        outputHashMode = "recursive";
      };
      args = [
        "-e"
        ./unpack-tools.sh
      ];
      tarball = seed "tools.tar.xz" { outputHashAlgo = "sha256"; };
    };

  shell = "${bootstrapTools}/bin/bash";
  initialPath = [ bootstrapTools ];

  # On Linux our own libc goes underneath; elsewhere it is the system's.
  libcOf = pkgs: if isLinux then pkgs.glibc else null;
  compilerOf = pkgs: if isLinux then pkgs.gcc-unwrapped else pkgs.llvmPackages.clang-unwrapped;

  # The tools of every build, by the names of their packages.
  toolNames = [
    "bash"
    "bzip2"
    "coreutils"
    "diffutils"
    "findutils"
    "gawk"
    "gnugrep"
    "gnumake"
    "gnupatch"
    "gnused"
    "gnutar"
    "gzip"
    "xz"
  ];
in
[
  # No compiler at all: enough to wrap one.
  (_: {
    name = "seed";
    stdenv = makeStdenv {
      name = "stdenv-seed";
      inherit shell initialPath;
      cc = null;
    };
  })

  # The compiler from the tarball.
  (prev: {
    name = "tools";
    stdenv = makeStdenv {
      name = "stdenv-tools";
      inherit shell initialPath;
      cc = prev.wrapCC {
        cc = bootstrapTools // { pname = "gcc"; version = "0"; };
        libc = null;
        bintools = null;
      };
    };
  })

  # The same compiler, but with our libc and linker.
  (prev: {
    name = "libc";
    stdenv = makeStdenv {
      name = "stdenv-libc";
      inherit shell initialPath;
      cc = prev.wrapCC {
        cc = bootstrapTools // { pname = "gcc"; version = "1"; };
        libc = libcOf prev;
        bintools = prev.binutils;
      };
    };
    takeOver = _: { inherit (prev) binutils; } // lib.optionalAttrs isLinux { inherit (prev) glibc linux-headers; };
  })

  # Our own compiler.
  (prev: {
    name = "compiler";
    stdenv = makeStdenv {
      name = "stdenv-compiler";
      inherit shell initialPath;
      cc = prev.wrapCC {
        cc = compilerOf prev;
        libc = libcOf prev;
        bintools = prev.binutils;
      };
    };
    takeOver = _: { inherit (prev) binutils gmp mpfr libmpc; } // lib.optionalAttrs isLinux { inherit (prev) glibc linux-headers gcc-unwrapped; };
  })

  # And our own tools, built with it: nothing of the tarball is left.
  (prev: {
    name = "final";
    stdenv = makeStdenv {
      name = "stdenv";
      shell = "${prev.bash}/bin/bash";
      initialPath = map (name: prev.${name}) toolNames;
      cc = prev.wrapCC {
        cc = compilerOf prev;
        libc = libcOf prev;
        bintools = prev.binutils;
      };
    };
    takeOver =
      _:
      lib.genAttrs (toolNames ++ [ "binutils" ]) (name: prev.${name})
      // lib.optionalAttrs isLinux { inherit (prev) glibc linux-headers gcc-unwrapped; };
  })
]
