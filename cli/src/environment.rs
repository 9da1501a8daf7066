//! What the environment says: variables, the home directory, the search path.

use std::collections::HashMap;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use raddle_nix::{SearchEntry, Settings};

use crate::memory;
use crate::output::{self, Failure};
use crate::settings;
use crate::statistics::Destination;

/// The environment variables.
pub(crate) struct Environment(HashMap<Vec<u8>, Vec<u8>>);

/// What the entry of a search path begins with if it is to be fetched: such an entry contains a
/// colon that does not end it.
const REMOTE: [&[u8]; 8] =
    [b"http:", b"https:", b"file:", b"channel:", b"git:", b"s3:", b"ssh:", b"flake:"];

impl Environment {
    /// Reads the variables.
    pub(crate) fn read() -> Environment {
        Environment(
            std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec())).collect(),
        )
    }

    fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name.as_bytes()).map(Vec::as_slice)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.bytes(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// Returns the settings that follow from the environment alone.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut made = Settings {
            home: self.bytes("HOME").map(<[u8]>::to_vec),
            env: self.0.clone(),
            current_time: now.map_or(0, |now| now.as_secs() as i64),
            search_path: self.default_search_path(),
            heap_limit: memory::default_limit(),
            ..Settings::default()
        };
        if let Some(dir) = self.text("NIX_STORE_DIR").filter(|dir| !dir.is_empty()) {
            made.store_dir = settings::store_dir(&dir).map_err(Failure::message)?;
        }
        if let Some(value) = self.text("NIX_ABORT_ON_WARN") {
            made.abort_on_warn = matches!(&*value, "1" | "yes" | "true");
        }
        if let Some(config) = self.text("NIX_CONFIG") {
            let warn = |warning: &str| output::message(&format!("warning: {warning}"));
            settings::apply_config(&mut made, &config, warn).map_err(Failure::message)?;
        }
        if let Some(path) = self.bytes("NIX_PATH") {
            made.search_path = split_search_path(path);
        }
        Ok(made)
    }

    /// Returns where statistics go if the environment asks for them.
    pub(crate) fn statistics(&self) -> Option<Destination> {
        self.bytes("NIX_SHOW_STATS").filter(|&value| value != b"0")?;
        let path = self.bytes("NIX_SHOW_STATS_PATH").filter(|&path| path != b"-");
        Some(path.map_or(Destination::StandardError, |path| {
            Destination::File(PathBuf::from(std::ffi::OsStr::from_bytes(path)))
        }))
    }

    /// Returns the channels that exist: the user's, then root's.
    fn default_search_path(&self) -> Vec<SearchEntry> {
        let mut entries = Vec::new();
        let mut add = |prefix: &str, path: PathBuf| {
            if path.exists() {
                let path = path.into_os_string().into_vec();
                entries.push(SearchEntry { prefix: prefix.into(), path });
            }
        };
        if let Some(home) = self.bytes("HOME") {
            let home = Path::new(std::ffi::OsStr::from_bytes(home));
            add("", home.join(".nix-defexpr/channels"));
        }
        let state = self.text("NIX_STATE_DIR").unwrap_or_else(|| "/nix/var/nix".to_owned());
        let channels = Path::new(&state).join("profiles/per-user/root/channels");
        add("nixpkgs", channels.join("nixpkgs"));
        add("", channels);
        entries
    }
}

/// Reads `[PREFIX=]PATH`.
pub(crate) fn search_entry(entry: &[u8]) -> SearchEntry {
    match entry.iter().position(|&byte| byte == b'=') {
        Some(at) => SearchEntry { prefix: entry[..at].to_vec(), path: entry[at + 1..].to_vec() },
        None => SearchEntry { prefix: Vec::new(), path: entry.to_vec() },
    }
}

/// Splits the value of `NIX_PATH` at its colons, except those in URLs.
fn split_search_path(path: &[u8]) -> Vec<SearchEntry> {
    let mut entries = Vec::new();
    let mut rest = path;
    loop {
        let place = rest.iter().position(|&byte| byte == b'=' || byte == b':');
        let place = match place {
            Some(at) if rest[at] == b'=' => at + 1,
            _ => 0,
        };
        let colon = |from: usize| {
            rest[from..].iter().position(|&byte| byte == b':').map_or(rest.len(), |at| from + at)
        };
        let mut end = colon(0);
        if REMOTE.iter().any(|scheme| rest[place..].starts_with(scheme)) {
            end = colon(colon(place) + 1);
        }
        if end > 0 {
            entries.push(search_entry(&rest[..end]));
        }
        if end == rest.len() {
            return entries;
        }
        rest = &rest[end + 1..];
    }
}

/// Returns the current directory.
pub(crate) fn current_dir() -> Result<Vec<u8>, Failure> {
    std::env::current_dir().map(|dir| dir.into_os_string().into_vec()).map_err(|error| {
        Failure::message(format_args!("cannot find the current directory: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::split_search_path;

    #[test]
    fn search_paths() {
        for (path, expected) in [
            ("", &[][..]),
            (":", &[]),
            ("/a", &["=/a"]),
            ("/a:/b", &["=/a", "=/b"]),
            ("/a::/b:", &["=/a", "=/b"]),
            ("n=/a:m=b", &["n=/a", "m=b"]),
            ("n=https://x.org/y:/b", &["n=https://x.org/y", "=/b"]),
            ("https://x.org/y", &["=https://x.org/y"]),
            ("channel:nixos-unstable:/b", &["=channel:nixos-unstable", "=/b"]),
            ("n=flake:nixpkgs:m=/b", &["n=flake:nixpkgs", "m=/b"]),
            ("n=https:", &["n=https:"]),
        ] {
            let got: Vec<String> = split_search_path(path.as_bytes())
                .iter()
                .map(|entry| {
                    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                    format!("{}={}", text(&entry.prefix), text(&entry.path))
                })
                .collect();
            assert_eq!(got, expected, "{path}");
        }
    }
}
