{
  lib,
  stdenv,
  fetchurl,
  curl,
  expat,
  openssl,
  pcre2,
  perl,
  zlib,
  gettext,
  perlSupport ? true,
  withDocs ? false,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "git";
  version = "2.46.2";

  src = fetchurl { url = "mirror://upstream/git/git-${finalAttrs.version}.tar.xz"; };

  nativeBuildInputs = [ gettext ];
  buildInputs = [
    curl
    expat
    openssl
    pcre2
    zlib
  ]
  ++ lib.optional perlSupport perl;

  makeFlags = [
    "prefix=\${out}"
    "USE_LIBPCRE2=1"
  ]
  ++ lib.optional (!perlSupport) "NO_PERL=1";
  postInstall = lib.optionalString withDocs "make install-man";

  meta = {
    description = "Distributed version control system";
    homepage = "https://git-scm.com";
    license = lib.licenses.gpl2Only;
    mainProgram = "git";
    maintainers = [ lib.teams.core ];
  };
})
