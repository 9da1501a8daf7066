//! The settings of Nix that raddle knows: one table for `--NAME VALUE`, `--option NAME VALUE` and
//! the variable `NIX_CONFIG`.
//!
//! Settings about building and fetching are accepted and have no effect yet, so that scripts and
//! configurations written for Nix go on working.

use clap::{Arg, ArgAction, ArgMatches, Command};
use raddle_nix::Settings;
use raddle_nix_store::path::StoreDir;
use raddle_nix_syntax::Lint;

use crate::memory;

/// A setting.
struct Setting {
    name: &'static str,
    kind: Kind,
    help: &'static str,
}

/// What a setting takes and does.
#[derive(Clone, Copy)]
enum Kind {
    /// Yes or no: `--name`, `--no-name`.
    Flag(fn(&mut Settings, bool)),
    /// One value.
    Text(fn(&mut Settings, &str) -> Result<(), String>),
    /// Words; `extra-name` adds to them.
    Words(fn(&mut Settings) -> &mut Vec<String>),
    /// The search path, as words; `extra-name` adds to it.
    SearchPath,
}

const fn flag(name: &'static str, set: fn(&mut Settings, bool), help: &'static str) -> Setting {
    Setting { name, kind: Kind::Flag(set), help }
}

const fn text(
    name: &'static str,
    set: fn(&mut Settings, &str) -> Result<(), String>,
    help: &'static str,
) -> Setting {
    Setting { name, kind: Kind::Text(set), help }
}

/// The settings with an effect.
const SETTINGS: &[Setting] = &[
    flag("show-trace", |s, on| s.show_trace = on, "Show the whole trace of an error"),
    flag("abort-on-warn", |s, on| s.abort_on_warn = on, "Make the warnings of programs errors"),
    flag("trace-verbose", |s, on| s.trace_verbose = on, "Let `builtins.traceVerbose` print"),
    flag("pure-eval", |s, on| s.pure = on, "Hide everything that could change the result"),
    flag("restrict-eval", |s, on| s.restricted = on, "Read nothing outside the search path"),
    text("max-call-depth", max_call_depth, "Number of nested calls in one value that is too many"),
    text(
        "max-heap",
        max_heap,
        "Memory that values may take, such as 512M or 20G; 0 for no limit [default: three quarters of what there is]",
    ),
    text("system", system, "What `builtins.currentSystem` is"),
    text("eval-system", system, "Same as --system"),
    text(
        "lint-url-literals",
        |s, value| lint(&mut s.lint_url_literals, value),
        "What to do about URLs without quotes: ignore, warn or fatal",
    ),
    text(
        "lint-absolute-path-literals",
        |s, value| lint(&mut s.lint_absolute_path_literals, value),
        "What to do about paths such as /etc and ~/x: ignore, warn or fatal",
    ),
    text(
        "lint-short-path-literals",
        |s, value| lint(&mut s.lint_short_path_literals, value),
        "What to do about paths such as a/b: ignore, warn or fatal",
    ),
    Setting {
        name: "experimental-features",
        kind: Kind::Words(|s| &mut s.experimental_features),
        help: "Features of the language to turn on, such as pipe-operators",
    },
    Setting {
        name: "nix-path",
        kind: Kind::SearchPath,
        help: "The search path where NIX_PATH is not set",
    },
];

/// Settings of Nix that are yes or no and have no effect here.
const NO_EFFECT_FLAGS: &[&str] = &[
    "accept-flake-config",
    "allow-dirty",
    "allow-import-from-derivation",
    "allow-new-privileges",
    "allow-symlinked-store",
    "allow-unsafe-native-code-during-evaluation",
    "always-allow-substitutes",
    "auto-allocate-uids",
    "auto-optimise-store",
    "builders-use-substitutes",
    "commit-lockfile-summary",
    "compress-build-log",
    "debugger-on-trace",
    "debugger-on-warn",
    "eval-cache",
    "fallback",
    "filter-syscalls",
    "fsync-metadata",
    "fsync-store-paths",
    "http2",
    "ignore-try",
    "impersonate-linux-26",
    "keep-build-log",
    "keep-derivations",
    "keep-env-derivations",
    "keep-failed",
    "keep-going",
    "keep-outputs",
    "lazy-locks",
    "lazy-trees",
    "preallocate-contents",
    "print-missing",
    "require-drop-supplementary-groups",
    "require-sigs",
    "run-diff-hook",
    "sandbox-fallback",
    "show-lock",
    "substitute",
    "sync-before-registering",
    "trace-function-calls",
    "trace-import-from-derivation",
    "use-case-hack",
    "use-cgroups",
    "use-registries",
    "use-sqlite-wal",
    "use-xdg-base-directories",
    "warn-dirty",
];

/// Settings of Nix with a value that have no effect here.
const NO_EFFECT: &[&str] = &[
    "access-tokens",
    "allow-dirty-locks",
    "allowed-impure-host-deps",
    "allowed-uris",
    "allowed-users",
    "bash-prompt",
    "bash-prompt-prefix",
    "bash-prompt-suffix",
    "build-dir",
    "build-hook",
    "build-poll-interval",
    "build-users-group",
    "builders",
    "commit-lock-file-summary",
    "connect-timeout",
    "cores",
    "diff-hook",
    "download-attempts",
    "download-buffer-size",
    "download-speed",
    "eval-attrset-update-layer-rhs-threshold",
    "eval-cores",
    "eval-profile-file",
    "eval-profiler",
    "eval-profiler-frequency",
    "eval-store",
    "external-builders",
    "extra-platforms",
    "flake-registry",
    "gc-reserved-space",
    "hashed-mirrors",
    "http-connections",
    "id-count",
    "ignored-acls",
    "json-log-path",
    "log-lines",
    "max-build-log-size",
    "max-free",
    "max-jobs",
    "max-silent-time",
    "max-substitution-jobs",
    "min-free",
    "min-free-check-interval",
    "nar-buffer-size",
    "narinfo-cache-negative-ttl",
    "narinfo-cache-positive-ttl",
    "netrc-file",
    "plugin-files",
    "post-build-hook",
    "pre-build-hook",
    "repl-overlays",
    "sandbox",
    "sandbox-build-dir",
    "sandbox-dev-shm-size",
    "sandbox-paths",
    "secret-key-files",
    "ssl-cert-file",
    "stalled-download-timeout",
    "start-id",
    "store",
    "substituters",
    "system-features",
    "tarball-ttl",
    "timeout",
    "trusted-public-keys",
    "trusted-substituters",
    "trusted-users",
    "upgrade-nix-store-path-url",
    "user-agent-suffix",
    "warn-large-path-threshold",
];

/// Why a setting was not made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SettingError {
    /// There is no such setting.
    Unknown,
    /// The value makes no sense; what would.
    Invalid(String),
}

fn max_call_depth(settings: &mut Settings, value: &str) -> Result<(), String> {
    settings.max_call_depth = value.parse().map_err(|_| "a number".to_owned())?;
    Ok(())
}

fn max_heap(settings: &mut Settings, value: &str) -> Result<(), String> {
    settings.heap_limit = match memory::parse_size(value) {
        Some(0) => None,
        Some(limit) if limit >= Settings::SMALLEST_HEAP_LIMIT => Some(limit),
        _ => {
            return Err("a size of at least 16M, such as 512M or 20G, or 0 for no limit".to_owned());
        }
    };
    Ok(())
}

fn system(settings: &mut Settings, value: &str) -> Result<(), String> {
    if !value.is_empty() {
        value.clone_into(&mut settings.system);
    }
    Ok(())
}

fn lint(lint: &mut Lint, value: &str) -> Result<(), String> {
    *lint = match value {
        "ignore" => Lint::Ignore,
        "warn" => Lint::Warn,
        "fatal" => Lint::Fatal,
        _ => return Err("'ignore', 'warn' or 'fatal'".to_owned()),
    };
    Ok(())
}

/// Makes a setting.
pub(crate) fn apply(settings: &mut Settings, name: &str, value: &str) -> Result<(), SettingError> {
    let (name, extra) = match name.strip_prefix("extra-") {
        Some(rest) if known(rest) => (rest, true),
        _ => (name, false),
    };
    let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
        return if known(name) { Ok(()) } else { Err(SettingError::Unknown) };
    };
    let words = || value.split_ascii_whitespace().map(str::to_owned);
    match setting.kind {
        Kind::Flag(set) => match value {
            "true" | "yes" | "1" => set(settings, true),
            "false" | "no" | "0" => set(settings, false),
            _ => return Err(SettingError::Invalid("'true' or 'false'".to_owned())),
        },
        Kind::Text(set) => set(settings, value).map_err(SettingError::Invalid)?,
        Kind::Words(list) => {
            let list = list(settings);
            if !extra {
                list.clear();
            }
            list.extend(words());
        }
        Kind::SearchPath => {
            if !extra {
                settings.search_path.clear();
            }
            let entries = words().map(|word| crate::environment::search_entry(word.as_bytes()));
            settings.search_path.extend(entries);
        }
    }
    Ok(())
}

fn known(name: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.name == name)
        || NO_EFFECT.contains(&name)
        || NO_EFFECT_FLAGS.contains(&name)
}

/// Reads the lines of `NIX_CONFIG`: `name = value`, with comments after `#`. `warn` is told of
/// names that nobody knows.
pub(crate) fn apply_config(
    settings: &mut Settings,
    config: &str,
    mut warn: impl FnMut(&str),
) -> Result<(), String> {
    for line in config.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            [] | ["include" | "!include", _] => {}
            [name, "=", ref value @ ..] => match apply(settings, name, &value.join(" ")) {
                Ok(()) => {}
                Err(SettingError::Unknown) => warn(&format!("unknown setting '{name}'")),
                Err(SettingError::Invalid(expected)) => {
                    let value = value.join(" ");
                    return Err(invalid(name, &value, &expected));
                }
            },
            _ => return Err(format!("illegal configuration line '{line}' in 'NIX_CONFIG'")),
        }
    }
    Ok(())
}

/// Words a value that makes no sense.
pub(crate) fn invalid(name: &str, value: &str, expected: &str) -> String {
    format!("setting '{name}' has invalid value '{value}'; expected {expected}")
}

/// Returns the store directory that `NIX_STORE_DIR` names.
pub(crate) fn store_dir(dir: &str) -> Result<StoreDir, String> {
    if !dir.starts_with('/') {
        return Err(format!("NIX_STORE_DIR is '{dir}', but a store needs an absolute path"));
    }
    Ok(StoreDir::new(dir))
}

/// The settings given on the command line, in the order of the table.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingArgs(pub(crate) Vec<(String, String)>);

const HEADING: &str = "Settings";

fn no(name: &str) -> String {
    format!("no-{name}")
}

fn extra(name: &str) -> String {
    format!("extra-{name}")
}

fn flag_args(command: Command, name: &'static str, help: Option<&'static str>) -> Command {
    let arg = |id: String| Arg::new(id.clone()).long(id).action(ArgAction::SetTrue);
    command
        .arg(
            arg(name.to_owned())
                .help(help.unwrap_or_default())
                .hide(help.is_none())
                .overrides_with(no(name))
                .help_heading(HEADING),
        )
        .arg(arg(no(name)).hide(true).overrides_with(name))
}

fn value_arg(name: String, help: Option<&'static str>) -> Arg {
    Arg::new(name.clone())
        .long(name)
        .help(help.unwrap_or_default())
        .hide(help.is_none())
        .value_name("VALUE")
        .action(ArgAction::Append)
        .allow_hyphen_values(true)
        .help_heading(HEADING)
}

impl clap::Args for SettingArgs {
    fn augment_args(mut command: Command) -> Command {
        for setting in SETTINGS {
            command = match setting.kind {
                Kind::Flag(_) => flag_args(command, setting.name, Some(setting.help)),
                Kind::Text(_) => {
                    command.arg(value_arg(setting.name.to_owned(), Some(setting.help)))
                }
                Kind::Words(_) | Kind::SearchPath => command
                    .arg(value_arg(setting.name.to_owned(), Some(setting.help)))
                    .arg(value_arg(extra(setting.name), None)),
            };
        }
        for name in NO_EFFECT_FLAGS {
            command = flag_args(command, name, None);
        }
        for name in NO_EFFECT {
            command = command.arg(value_arg((*name).to_owned(), None));
        }
        command.arg(
            Arg::new("option")
                .long("option")
                .help("Make any setting of Nix")
                .num_args(2)
                .value_names(["NAME", "VALUE"])
                .action(ArgAction::Append)
                .allow_hyphen_values(true)
                .help_heading(HEADING),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for SettingArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut made = Vec::new();
        let values = |id: &str| matches.get_many::<String>(id).into_iter().flatten();
        for setting in SETTINGS {
            let name = setting.name;
            match setting.kind {
                Kind::Flag(_) => {
                    for (id, value) in [(name.to_owned(), "true"), (no(name), "false")] {
                        if matches.get_flag(&id) {
                            made.push((name.to_owned(), value.to_owned()));
                        }
                    }
                }
                Kind::Text(_) => made.extend(values(name).map(|v| (name.to_owned(), v.clone()))),
                Kind::Words(_) | Kind::SearchPath => {
                    for id in [name.to_owned(), extra(name)] {
                        made.extend(values(&id).map(|value| (id.clone(), value.clone())));
                    }
                }
            }
        }
        let options: Vec<&String> = values("option").collect();
        made.extend(options.chunks_exact(2).map(|option| (option[0].clone(), option[1].clone())));
        Ok(SettingArgs(made))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{SettingError, apply, apply_config};
    use raddle_nix::Settings;

    #[test]
    fn single_settings() {
        let mut settings = Settings::default();
        for (name, value, expected) in [
            ("show-trace", "true", Ok(())),
            ("show-trace", "perhaps", Err(SettingError::Invalid("'true' or 'false'".to_owned()))),
            ("max-call-depth", "7", Ok(())),
            ("max-call-depth", "-7", Err(SettingError::Invalid("a number".to_owned()))),
            ("max-heap", "512M", Ok(())),
            (
                "max-heap",
                "1M",
                Err(SettingError::Invalid(
                    "a size of at least 16M, such as 512M or 20G, or 0 for no limit".to_owned(),
                )),
            ),
            ("sandbox", "relaxed", Ok(())),
            ("extra-platforms", "i686-linux", Ok(())),
            ("extra-substituters", "x", Ok(())),
            ("no-such-thing", "x", Err(SettingError::Unknown)),
        ] {
            assert_eq!(apply(&mut settings, name, value), expected, "{name} {value}");
        }
        assert!(settings.show_trace);
        assert_eq!(settings.max_call_depth, 7);
        assert_eq!(settings.heap_limit, Some(512 << 20));
        assert_eq!(apply(&mut settings, "max-heap", "0"), Ok(()));
        assert_eq!(settings.heap_limit, None);
    }

    #[test]
    fn configuration() {
        let mut settings = Settings::default();
        let mut warnings = Vec::new();
        let config = "# a comment\nexperimental-features = a b # and\n\n\
                      extra-experimental-features = c\nfoo = 1\nnix-path = x=/x /y\n";
        apply_config(&mut settings, config, |warning| warnings.push(warning.to_owned())).unwrap();
        assert_eq!(settings.experimental_features, ["a", "b", "c"]);
        assert_eq!(settings.search_path.len(), 2);
        assert_eq!(warnings, ["unknown setting 'foo'"]);
        for (config, expected) in [
            ("show-trace", "illegal configuration line 'show-trace' in 'NIX_CONFIG'"),
            ("show-trace true", "illegal configuration line 'show-trace true' in 'NIX_CONFIG'"),
            (
                "show-trace = 2",
                "setting 'show-trace' has invalid value '2'; expected 'true' or 'false'",
            ),
        ] {
            assert_eq!(apply_config(&mut settings, config, |_| {}), Err(expected.to_owned()));
        }
    }
}
