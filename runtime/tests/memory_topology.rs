//! Topologies of invented machines.

use std::fs;
use std::path::{Path, PathBuf};

use raddle::memory::{Cache, Pool, Topology};

/// A folder that is gone after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, nodes: &[(&str, &str)]) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _old = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        for (node, cpus) in nodes {
            fs::create_dir(path.join(node)).unwrap();
            fs::write(path.join(node).join("cpulist"), cpus).unwrap();
        }
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn machines() {
    type Case =
        (&'static str, &'static [(&'static str, &'static str)], &'static [&'static [usize]]);
    let cases: [Case; 5] = [
        ("one", &[("node0", "0-1\n")], &[&[0, 1]]),
        ("two", &[("node1", "4-7\n"), ("node0", "0-3\n")], &[&[0, 1, 2, 3], &[4, 5, 6, 7]]),
        (
            "threads",
            &[("node0", "0-1,4-5\n"), ("node1", "2-3,6-7\n")],
            &[&[0, 1, 4, 5], &[2, 3, 6, 7]],
        ),
        ("gaps", &[("node10", "2\n"), ("node2", "1\n"), ("node0", "0\n")], &[&[0], &[1], &[2]]),
        ("memory alone", &[("node0", "0\n"), ("node1", "\n"), ("power", "x")], &[&[0]]),
    ];
    for (name, files, expected) in cases {
        let folder = Folder::new(name, files);
        let topology = Topology::read(&folder.0).unwrap();
        assert_eq!(topology.nodes(), expected, "{name}");
        for (index, cpus) in expected.iter().enumerate() {
            assert!(cpus.iter().all(|&cpu| topology.node_of_cpu(cpu) == Some(index)), "{name}");
        }
        assert_eq!(topology.node_of_cpu(100), None);
    }
}

#[test]
fn a_process_may_have_a_part_of_the_machine() {
    let folder = Folder::new("part", &[("node0", "0-3"), ("node1", "4-7"), ("node2", "8-11")]);
    let topology = Topology::read(&folder.0).unwrap().restricted_to(&[9, 1, 2, 99]);
    assert_eq!(topology.nodes(), [&[1, 2][..], &[9]]);
    assert_eq!(topology.cpus().collect::<Vec<_>>(), [1, 2, 9]);
}

#[test]
fn broken_files_are_errors() {
    for (name, files) in
        [("nonsense", [("node0", "all of them")]), ("backwards", [("node0", "3-1")])]
    {
        let folder = Folder::new(name, &files);
        let error = Topology::read(&folder.0).unwrap_err();
        assert!(error.to_string().contains("node0/cpulist"), "{error}");
    }
    assert!(Topology::read(Path::new("/nowhere")).is_err());
}

#[test]
fn this_machine_has_a_node() {
    let topology = Topology::of_this_machine();
    assert!(topology.cpus().next().is_some());
}

/// Workers of an invented machine get objects of their own node.
#[test]
fn pools_follow_the_topology() {
    let folder = Folder::new("pool", &[("node0", "0-1"), ("node3", "2-3"), ("node7", "4-5")]);
    let topology = Topology::read(&folder.0).unwrap();
    let pool = Pool::<u64>::with_nodes(1 << 20, topology.nodes().len());
    for cpu in topology.cpus() {
        let node = topology.node_of_cpu(cpu).unwrap();
        let mut cache = Cache::on_node(node);
        let number = pool.take(&mut cache).unwrap();
        assert_eq!(pool.node_of(number), node, "processor {cpu}");
    }
}
