{ self, lib }:
with self;
{
  JSON = { version = "4.10"; by = "ISHIGAKI"; description = "Encoder and decoder of JSON"; needs = [ JSONPP ]; };
  JSON-PP = { version = "4.16"; by = "ISHIGAKI"; description = "Encoder and decoder of JSON in pure Perl"; };
  JSON-XS = { version = "4.03"; by = "MLEHMANN"; description = "Fast encoder and decoder of JSON"; needs = [ TypesSerialiser commonsense ]; };
  Cpanel-JSON-XS = { version = "4.38"; by = "RURBAN"; description = "Fast and correct encoder and decoder of JSON"; };
  Types-Serialiser = { version = "1.01"; by = "MLEHMANN"; description = "Simple data types for common serialisation formats"; needs = [ commonsense ]; };
  common-sense = { version = "3.75"; by = "MLEHMANN"; description = "Sane defaults for Perl programs"; };
  Moose = { version = "2.2207"; by = "ETHER"; description = "Object system for Perl"; needs = [ ModuleRuntime TryTiny ]; };
  Moo = { version = "2.005005"; by = "HAARG"; description = "Small object system for Perl"; needs = [ ModuleRuntime RoleTiny ]; };
  Role-Tiny = { version = "2.002004"; by = "HAARG"; description = "Roles without the rest of an object system"; };
  Module-Runtime = { version = "0.016"; by = "ZEFRAM"; description = "Loads modules at run time"; };
  Try-Tiny = { version = "0.31"; by = "ETHER"; description = "Catches exceptions with little code"; };
  URI = { version = "5.21"; by = "OALDERS"; description = "Uniform Resource Identifiers"; };
  HTTP-Message = { version = "6.45"; by = "OALDERS"; description = "Messages of the HTTP protocol"; needs = [ URI ]; };
  libwww-perl = { version = "6.72"; by = "OALDERS"; description = "Library for programs on the web"; needs = [ HTTPMessage URI TryTiny ]; };
  DBI = { version = "1.644"; by = "HMBRAND"; description = "Interface to databases"; };
  DBD-SQLite = { version = "1.74"; by = "ISHIGAKI"; description = "Driver for SQLite databases"; needs = [ DBI ]; };
  Mojolicious = { version = "9.37"; by = "SRI"; description = "Web framework with everything in it"; license = lib.licenses.artistic2; };
  Text-CSV = { version = "2.04"; by = "ISHIGAKI"; description = "Reader and writer of CSV"; };
  YAML-LibYAML = { version = "0.902"; by = "TINITA"; description = "Reader and writer of YAML"; };
  TimeDate = { version = "2.33"; by = "ATOOMIC"; description = "Parses and formats dates"; license = [ ]; };
}
