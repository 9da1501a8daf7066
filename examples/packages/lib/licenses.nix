# Licenses by short name.
{ lib }:
let
  table = {
    agpl3Only = [ "AGPL-3.0-only" "GNU Affero General Public License v3.0 only" ];
    artistic1 = [ "Artistic-1.0" "Artistic License 1.0" ];
    artistic2 = [ "Artistic-2.0" "Artistic License 2.0" ];
    asl20 = [ "Apache-2.0" "Apache License 2.0" ];
    boost = [ "BSL-1.0" "Boost Software License 1.0" ];
    bsd2 = [ "BSD-2-Clause" "BSD 2-clause License" ];
    bsd3 = [ "BSD-3-Clause" "BSD 3-clause License" ];
    bsdOriginal = [ "BSD-4-Clause" "BSD 4-clause License" ];
    cc0 = [ "CC0-1.0" "Creative Commons Zero v1.0 Universal" ];
    curl = [ "curl" "curl License" ];
    eupl12 = [ "EUPL-1.2" "European Union Public License 1.2" ];
    free = [ null "A free license not in this table" ];
    gpl1Plus = [ "GPL-1.0-or-later" "GNU General Public License v1.0 or later" ];
    gpl2Only = [ "GPL-2.0-only" "GNU General Public License v2.0 only" ];
    gpl2Plus = [ "GPL-2.0-or-later" "GNU General Public License v2.0 or later" ];
    gpl3Only = [ "GPL-3.0-only" "GNU General Public License v3.0 only" ];
    gpl3Plus = [ "GPL-3.0-or-later" "GNU General Public License v3.0 or later" ];
    isc = [ "ISC" "ISC License" ];
    lgpl21Plus = [ "LGPL-2.1-or-later" "GNU Lesser General Public License v2.1 or later" ];
    lgpl3Plus = [ "LGPL-3.0-or-later" "GNU Lesser General Public License v3.0 or later" ];
    mit = [ "MIT" "MIT License" ];
    mpl20 = [ "MPL-2.0" "Mozilla Public License 2.0" ];
    ncsa = [ "NCSA" "University of Illinois/NCSA Open Source License" ];
    ofl = [ "OFL-1.1" "SIL Open Font License 1.1" ];
    openssl = [ "OpenSSL" "OpenSSL License" ];
    postgresql = [ "PostgreSQL" "PostgreSQL License" ];
    psfl = [ "PSF-2.0" "Python Software Foundation License 2.0" ];
    publicDomain = [ null "Public Domain" ];
    unlicense = [ "Unlicense" "The Unlicense" ];
    vim = [ "Vim" "Vim License" ];
    zlib = [ "Zlib" "zlib License" ];
  };

  license =
    shortName: row:
    {
      inherit shortName;
      fullName = builtins.elemAt row 1;
      free = true;
    }
    // lib.optionalAttrs (builtins.head row != null) rec {
      spdxId = builtins.head row;
      url = "https://spdx.org/licenses/${spdxId}.html";
    };
in
lib.mapAttrs license table
// {
  unfree = {
    shortName = "unfree";
    fullName = "Unfree";
    free = false;
  };
  unfreeRedistributable = {
    shortName = "unfreeRedistributable";
    fullName = "Unfree, may be redistributed";
    free = false;
  };
}
