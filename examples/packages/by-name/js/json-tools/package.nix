# Several packages in one, for those who do not want to choose.
{
  lib,
  symlinkJoin,
  jq,
  gron,
  jless,
  fx,
}:
symlinkJoin {
  name = "json-tools";
  paths = [
    (lib.getBin jq)
    gron
    jless
    fx
  ];
  meta = {
    description = "Collection of tools for JSON: ${lib.concatMapStringsSep ", " lib.getName [ jq gron jless fx ]}";
    license = lib.licenses.mit;
    maintainers = [ lib.teams.data ];
  };
}
