//! Which processors belong to which node of the machine, and on which a thread may run.
//!
//! The kernel tells it in files: a folder per node with a list of processors such as `0-3,8`. They
//! are read here because the crates that do it either need a C library (hwloc, libnuma) or read
//! only the machine's own folder, which no test can invent.
//!
//! Nodes are named by index, in the order of the kernel's numbers, which may have gaps. Nodes
//! without processors (memory alone) are left out: no worker runs there.
//!
//! Not here: distances between nodes, and where memory lies: a page lies where it is first touched.

use std::fs;
use std::io;
use std::path::Path;

use super::affinity;

const FOLDER: &str = "/sys/devices/system/node";

/// The nodes of a machine and their processors.
///
/// # Examples
///
/// ```
/// use raddle::memory::Topology;
///
/// let topology = Topology::of_this_machine();
/// for cpu in topology.cpus() {
///     assert!(topology.nodes()[topology.node_of_cpu(cpu).unwrap()].contains(&cpu));
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<Vec<usize>>,
}

impl Topology {
    /// Returns the topology of this machine, as far as this process may use it.
    ///
    /// Where the kernel tells nothing, it is one node.
    pub fn of_this_machine() -> Self {
        let allowed = affinity::allowed_cpus();
        let read = Self::read(Path::new(FOLDER)).map(|topology| topology.restricted_to(&allowed));
        match read {
            Ok(topology) if !topology.nodes.is_empty() => topology,
            _ => Self { nodes: vec![allowed] },
        }
    }

    /// Reads a topology from a folder like the kernel's `/sys/devices/system/node`.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read or is not a list of processors.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut nodes = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let number =
                name.to_str().and_then(|name| name.strip_prefix("node")?.parse::<u32>().ok());
            let Some(number) = number else { continue };
            let path = entry.path().join("cpulist");
            let cpus = parse_list(&fs::read_to_string(&path)?).ok_or_else(|| {
                let text = format!("`{}` is not a list of processors", path.display());
                io::Error::new(io::ErrorKind::InvalidData, text)
            })?;
            if !cpus.is_empty() {
                nodes.push((number, cpus));
            }
        }
        nodes.sort_unstable();
        Ok(Self { nodes: nodes.into_iter().map(|(_, cpus)| cpus).collect() })
    }

    /// Returns the part of the topology that has these processors.
    #[must_use]
    pub fn restricted_to(mut self, cpus: &[usize]) -> Self {
        for node in &mut self.nodes {
            node.retain(|cpu| cpus.contains(cpu));
        }
        self.nodes.retain(|node| !node.is_empty());
        self
    }

    /// Returns the processors of each node, in ascending order.
    pub fn nodes(&self) -> &[Vec<usize>] {
        &self.nodes
    }

    /// Returns all processors, node by node.
    pub fn cpus(&self) -> impl Iterator<Item = usize> {
        self.nodes.iter().flatten().copied()
    }

    /// Returns the index of the node that this processor belongs to, if it is known.
    pub fn node_of_cpu(&self, cpu: usize) -> Option<usize> {
        self.nodes.iter().position(|node| node.contains(&cpu))
    }
}

/// Reads a list such as `0-3,8`; `None` if it is none.
fn parse_list(text: &str) -> Option<Vec<usize>> {
    /// More than any kernel supports.
    const MOST: usize = 1 << 16;
    let mut cpus = Vec::new();
    for range in text.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= MOST {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::parse_list;

    #[test]
    fn lists_of_processors() {
        let cases: [(&str, Option<&[usize]>); 12] = [
            ("0\n", Some(&[0])),
            ("0-3\n", Some(&[0, 1, 2, 3])),
            ("0-1,4-5", Some(&[0, 1, 4, 5])),
            ("7,2,2-3\n", Some(&[2, 3, 7])),
            ("\n", Some(&[])),
            ("", Some(&[])),
            ("3-1", None),
            ("a", None),
            ("1-", None),
            ("-1", None),
            ("0-99999999999", None),
            ("1 2", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_list(text).as_deref(), expected, "{text:?}");
        }
    }
}
