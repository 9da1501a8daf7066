# Decides whether a package may be used, and says why not.
{
  lib,
  config,
  stdenv,
}:
let
  fieldTypes = with lib.types; {
    name = str;
    description = str;
    longDescription = str;
    homepage = str;
    changelog = str;
    mainProgram = str;
    position = str;
    branch = str;
    license = anything;
    maintainers = listOf anything;
    platforms = listOf str;
    outputsToInstall = listOf str;
    knownVulnerabilities = listOf str;
    priority = int;
    broken = bool;
    # Computed here, and passed on when a package takes over the `meta` of another.
    available = bool;
    insecure = bool;
    unfree = bool;
    unsupported = bool;
  };

  wrongFields =
    meta:
    lib.filter (field: !(fieldTypes ? ${field} && fieldTypes.${field}.check meta.${field})) (
      lib.attrNames meta
    );
in
{
  attrs,
  meta,
  name,
}:
let
  pname = attrs.pname or (lib.getName name);
  vulnerabilities = meta.knownVulnerabilities or [ ];
  licenses = lib.toList (meta.license or [ ]);

  unfree = lib.any (license: !(license.free or true)) licenses;
  broken = meta.broken or false;
  insecure = vulnerabilities != [ ];
  unsupported = !lib.elem stdenv.platform.system meta.platforms;

  # The first rule that applies decides.
  rules = [
    {
      applies = unfree && !config.allowUnfree && !lib.elem pname config.allowUnfreePackages;
      reason = "has an unfree license (${lib.concatMapStringsSep ", " (l: l.fullName) licenses})";
      remedy = "set config.allowUnfree, or add it to config.allowUnfreePackages";
    }
    {
      applies = broken && !config.allowBroken;
      reason = "is marked as broken";
      remedy = "set config.allowBroken";
    }
    {
      applies = unsupported && !config.allowUnsupportedSystem;
      reason = "is not available for ${stdenv.platform.system}";
      remedy = "set config.allowUnsupportedSystem";
    }
    {
      applies = insecure && !lib.elem name config.permittedInsecurePackages;
      reason = "has known vulnerabilities: ${lib.concatStringsSep "; " vulnerabilities}";
      remedy = "add it to config.permittedInsecurePackages";
    }
    {
      applies = config.checkMeta && wrongFields meta != [ ];
      reason = "has wrong fields in its meta: ${lib.concatStringsSep ", " (wrongFields meta)}";
      remedy = "correct them";
    }
  ];

  verdict = lib.findFirst (rule: rule.applies) null rules;
in
{
  inherit unfree broken insecure unsupported;
  available = verdict == null;
  valid =
    verdict == null
    || throw ''
      the package `${name}` ${verdict.reason}, so it is not evaluated.
        at ${meta.position or "an unknown place"}
        to use it all the same: ${verdict.remedy}'';
}
