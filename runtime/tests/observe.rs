//! What an observer hears, and that it hears nothing when switched off.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use raddle::observe::{Event, Observer, Reason};
use raddle::{Options, Policy, Priority, Runtime, Task, TaskId};

/// What was heard, in the order of each worker.
#[derive(Default)]
struct Log(Mutex<Vec<(usize, Heard)>>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Heard {
    Spawned(TaskId, Option<String>, Priority),
    Started(TaskId),
    Suspended(TaskId, Reason),
    Resumed(TaskId),
    Ended(TaskId, bool),
    Stolen(usize),
    Parked,
    Woken,
    Refilled,
}

impl Observer for Log {
    fn event(&self, worker: usize, event: Event<'_>) {
        let heard = match event {
            Event::TaskSpawned { task, name, priority, .. } => {
                Heard::Spawned(task, name.map(str::to_owned), priority)
            }
            Event::TaskStarted { task } => Heard::Started(task),
            Event::TaskSuspended { task, reason } => Heard::Suspended(task, reason),
            Event::TaskResumed { task } => Heard::Resumed(task),
            Event::TaskEnded { task, panicked } => Heard::Ended(task, panicked),
            Event::TasksStolen { count } => Heard::Stolen(count),
            Event::WorkerParked => Heard::Parked,
            Event::WorkerWoken => Heard::Woken,
            Event::PoolRefilled => Heard::Refilled,
            _ => return,
        };
        self.0.lock().unwrap().push((worker, heard));
    }
}

impl Log {
    fn take(&self) -> Vec<(usize, Heard)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn each_runtime(test: impl Fn(&Arc<Log>, Runtime)) {
    for policy in [Policy::Stealing, Policy::Dispatching, Policy::Pairs] {
        for workers in [1, 2, 4, 8] {
            let log = Arc::new(Log::default());
            let builder = Runtime::builder().workers(workers).policy(policy);
            let builder = builder.stack_size(1 << 20).observer(Arc::clone(&log) as _);
            test(&log, builder.build().unwrap());
        }
    }
}

fn fibonacci(task: &Task<'_>, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = task.join(|task| fibonacci(task, n - 1), |task| fibonacci(task, n - 2));
    a + b
}

fn work(runtime: &Runtime) {
    let options = Options::new().name("leaf").priority(Priority::Low);
    runtime.run(|task| {
        task.scope(|scope| {
            for n in 0..50 {
                scope.spawn(task, Priority::Normal, move |task| {
                    if n % 10 == 0 {
                        task.yield_now();
                    }
                    assert_eq!(fibonacci(task, 10), 55);
                });
            }
            scope.spawn_with(task, &options, |_| {});
        });
    });
    let _panicked = runtime.spawn(|_| panic!("heard")).join();
}

/// Checks what must hold of any log: each task lives once, and only where it was started.
fn check_lives(log: &[(usize, Heard)]) -> HashMap<TaskId, usize> {
    let (mut home, mut suspended, mut lives) = (HashMap::new(), HashSet::new(), HashMap::new());
    for (worker, heard) in log {
        match heard {
            Heard::Started(task) => {
                assert!(home.insert(*task, *worker).is_none(), "{task:?} lives already");
                *lives.entry(*task).or_default() += 1;
            }
            Heard::Suspended(task, _) => {
                assert_eq!(home.get(task), Some(worker), "{task:?}");
                assert!(suspended.insert(*task));
            }
            Heard::Resumed(task) => {
                assert_eq!(home.get(task), Some(worker), "{task:?}");
                assert!(suspended.remove(task));
            }
            Heard::Ended(task, _) => {
                assert_eq!(home.remove(task), Some(*worker), "{task:?}");
                assert!(!suspended.contains(task));
            }
            _ => {}
        }
    }
    assert!(home.is_empty() && suspended.is_empty(), "{home:?} {suspended:?}");
    lives
}

#[test]
fn every_task_is_heard_of_from_spawning_to_its_end() {
    each_runtime(|log, runtime| {
        work(&runtime);
        let counters = runtime.counters();
        runtime.shutdown().expect("the panic was asked for");
        let log = log.take();
        check_lives(&log);
        let count = |is: &dyn Fn(&Heard) -> bool| log.iter().filter(|(_, h)| is(h)).count() as u64;
        assert_eq!(count(&|h| matches!(h, Heard::Started(_))), counters.tasks_run);
        assert_eq!(count(&|h| matches!(h, Heard::Ended(_, true))), 1);
        // Those from outside are not told to be spawned.
        let spawned = count(&|h| matches!(h, Heard::Spawned(..)));
        assert_eq!(spawned + 2, counters.tasks_run);
        let named =
            |h: &Heard| matches!(h, Heard::Spawned(_, Some(name), Priority::Low) if name == "leaf");
        assert_eq!(count(&named), 1);
        assert_eq!(count(&|h| matches!(h, Heard::Suspended(_, Reason::Yield))), 5);
        assert_eq!(count(&|h| matches!(h, Heard::Suspended(_, Reason::Scope))), 1);
        let stolen: usize = log
            .iter()
            .map(|(_, heard)| if let Heard::Stolen(count) = heard { *count } else { 0 })
            .sum();
        // Those of the last moments may not be counted yet when the counters are read.
        assert!(stolen as u64 >= counters.steals, "{stolen} of {}", counters.steals);
        let parked = count(&|h| matches!(h, Heard::Parked));
        assert_eq!(count(&|h| matches!(h, Heard::Woken)), parked);
        assert!(count(&|h| matches!(h, Heard::Refilled)) > 0);
    });
}

#[test]
fn nothing_is_heard_when_switched_off() {
    each_runtime(|log, runtime| {
        // From the midst of a task: what is told of it afterwards is told no more.
        runtime.run(|_| runtime.set_observing(false));
        log.take();
        work(&runtime);
        assert_eq!(log.take(), []);
        runtime.set_observing(true);
        work(&runtime);
        assert!(log.take().len() > 100);
    });
    // Without an observer there is nothing to switch on.
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.set_observing(true);
    work(&runtime);
}

#[test]
fn an_observer_that_panics_is_heard_no_more() {
    struct Bad;
    impl Observer for Bad {
        fn event(&self, _: usize, event: Event<'_>) {
            assert!(!matches!(event, Event::TaskSpawned { .. }), "the observer is bad");
        }
    }
    let runtime = Runtime::builder().workers(2).observer(Arc::new(Bad)).build().unwrap();
    work(&runtime);
    work(&runtime);
    runtime.shutdown().expect("the tasks do not fail");
}
