//! Absolute paths as bytes: lexical operations only, nothing here touches the file system.

/// Returns `path` with `.`, `..`, repeated and trailing slashes removed. `path` is absolute.
pub(crate) fn canonical(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    for component in path.split(|&byte| byte == b'/') {
        match component {
            b"" | b"." => {}
            b".." => {
                let parent = out.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
                out.truncate(parent);
            }
            name => {
                out.push(b'/');
                out.extend_from_slice(name);
            }
        }
    }
    if out.is_empty() {
        out.push(b'/');
    }
    out
}

/// Returns `path` as seen from the absolute folder `base`, canonical.
pub(crate) fn join(base: &[u8], path: &[u8]) -> Vec<u8> {
    if path.first() == Some(&b'/') {
        return canonical(path);
    }
    canonical(&[base, b"/", path].concat())
}

/// Returns the folder that `path` is in.
pub(crate) fn parent(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|&byte| byte == b'/') {
        None | Some(0) => b"/",
        Some(slash) => &path[..slash],
    }
}

/// Returns bytes as a path of the operating system.
pub(crate) fn os(path: &[u8]) -> &std::path::Path {
    use std::os::unix::ffi::OsStrExt;
    std::path::Path::new(std::ffi::OsStr::from_bytes(path))
}

#[cfg(test)]
mod tests {
    #[test]
    fn canonical() {
        for (path, expected) in [
            ("/", "/"),
            ("//", "/"),
            ("/a/b/", "/a/b"),
            ("/a//b/./c", "/a/b/c"),
            ("/a/../b", "/b"),
            ("/../..", "/"),
            ("/a/b/../..", "/"),
        ] {
            assert_eq!(super::canonical(path.as_bytes()), expected.as_bytes(), "{path}");
        }
        assert_eq!(super::join(b"/a/b", b"../c"), b"/a/c");
        assert_eq!(super::join(b"/a/b", b"/c"), b"/c");
        assert_eq!(super::parent(b"/a/b"), b"/a");
        assert_eq!(super::parent(b"/a"), b"/");
    }
}
