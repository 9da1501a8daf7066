//! A bounded ring between one sender and one receiver, either of which may be a task that waits.
//!
//! ```text
//! Sender ---> slots: filled, then published; emptied, then freed ---> Receiver
//!    ^                                                                   |
//!    '---- each rings the other's bell after every value, and at its end-'
//! ```
//!
//! - `slots` moves values; `bell` wakes the other end. While nobody waits, a value costs no
//!   interlocked instruction on either side.
//! - An end that finds nothing to do announces that it waits, and looks once more; see `bell`.
//! - Each end says when it goes. The receiver first takes all that was sent before; what is in the
//!   ring when the receiver goes is dropped, the last of it at the latest with the sender.
//!
//! Values come in the order in which they were sent, and never wait while the receiver does.

mod bell;
mod error;
mod slots;

use std::fmt;
use std::pin::Pin;
use std::sync::Once;
use std::task::{Context, Poll};

use self::bell::{Bell, Ringer};
pub use self::error::{SendError, TryRecvError, TrySendError};
use self::slots::{Reader, Writer};
use crate::memory::model::Arc;
use crate::memory::{CacheLine, barrier};

/// Creates a ring that holds up to `capacity` values, and returns its two ends.
///
/// # Panics
///
/// Panics if `capacity` is 0.
///
/// # Examples
///
/// ```
/// use raddle::sync::ring;
/// use raddle::{Priority, Runtime};
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let (mut sender, mut receiver) = ring(4);
/// let sum = runtime.run(|task| {
///     task.scope(|scope| {
///         scope.spawn(task, Priority::Normal, move |task| {
///             for n in 1..=100 {
///                 task.wait(sender.send(n)).expect("the receiver is there");
///             }
///         });
///         let mut sum = 0;
///         while let Some(n) = task.wait(receiver.recv()) {
///             sum += n;
///         }
///         sum
///     })
/// });
/// assert_eq!(sum, 5050);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn ring<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    // The two ends must agree on the kind of fences, so it is settled before there are any.
    static FENCES: Once = Once::new();
    FENCES.call_once(barrier::register);

    let (writer, reader) = slots::slots(capacity);
    let bells =
        Arc::new(Bells { sender: CacheLine(Bell::new()), receiver: CacheLine(Bell::new()) });
    let sender = Sender { writer, ringer: Ringer::default(), bells: Arc::clone(&bells) };
    (sender, Receiver { reader, ringer: Ringer::default(), bells })
}

/// The bells, each called after who listens to it.
struct Bells {
    sender: CacheLine<Bell>,
    receiver: CacheLine<Bell>,
}

/// The end of a [`ring`] that values go into. Dropping it lets the receiver come to the end.
///
/// # Examples
///
/// ```
/// use raddle::Runtime;
/// use raddle::sync::ring::{TrySendError, ring};
///
/// let (mut sender, mut receiver) = ring(1);
/// sender.try_send(1)?;
/// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
/// let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(|task| task.wait(receiver.recv())), Some(1));
/// drop(receiver);
/// assert_eq!(sender.try_send(3), Err(TrySendError::Closed(3)));
/// # Ok::<(), TrySendError<i32>>(())
/// ```
pub struct Sender<T> {
    writer: Writer<T>,
    ringer: Ringer,
    bells: Arc<Bells>,
}

/// The end of a [`ring`] that values come out of. Dropping it closes the ring.
///
/// # Examples
///
/// ```
/// use raddle::Runtime;
/// use raddle::sync::ring::{TryRecvError, ring};
///
/// let runtime = Runtime::builder().workers(1).build()?;
/// let (mut sender, mut receiver) = ring(3);
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
/// runtime.run(|task| task.wait(sender.send("last"))).expect("the receiver is there");
/// drop(sender);
/// assert_eq!(receiver.try_recv(), Ok("last"));
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Receiver<T> {
    reader: Reader<T>,
    ringer: Ringer,
    bells: Arc<Bells>,
}

impl<T> Sender<T> {
    /// Sends a value if there is room.
    ///
    /// # Errors
    ///
    /// Gives the value back if the ring is full, or the receiver gone.
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), TrySendError<T>> {
        if self.bells.receiver.listener_is_gone() {
            return Err(TrySendError::Closed(value));
        }
        self.writer.push(value).map_err(TrySendError::Full)?;
        self.ringer.ring(&self.bells.receiver);
        Ok(())
    }

    /// Returns a future that sends a value as soon as there is room.
    ///
    /// The value is sent when the future is ready with `Ok`, and otherwise dropped with the future.
    pub fn send(&mut self, value: T) -> Sending<'_, T> {
        Sending { sender: self, value: Some(value) }
    }

    /// Returns how many values the ring holds.
    pub fn capacity(&self) -> usize {
        self.writer.capacity()
    }

    /// Returns whether the receiver is gone.
    pub fn is_closed(&self) -> bool {
        self.bells.receiver.listener_is_gone()
    }
}

impl<T> Receiver<T> {
    /// Receives a value if there is one.
    ///
    /// # Errors
    ///
    /// Says whether there may be one later.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if let Some(value) = self.reader.pop() {
            self.ringer.ring(&self.bells.sender);
            return Ok(value);
        }
        self.recv_last()
    }

    /// Returns a future that receives the next value, or `None` once there will be none.
    ///
    /// Dropping the future loses no value.
    pub fn recv(&mut self) -> Receiving<'_, T> {
        Receiving { receiver: self }
    }

    /// Returns how many values the ring holds.
    pub fn capacity(&self) -> usize {
        self.reader.capacity()
    }

    /// Finds out whether the ring is empty for good.
    fn recv_last(&mut self) -> Result<T, TryRecvError> {
        if !self.bells.sender.listener_is_gone() {
            return Err(TryRecvError::Empty);
        }
        // What was sent before the sender went is visible now.
        self.reader.pop().ok_or(TryRecvError::Closed)
    }
}

/// The future of [`Sender::send`].
#[must_use = "futures do nothing unless they are polled"]
pub struct Sending<'a, T> {
    sender: &'a mut Sender<T>,
    value: Option<T>,
}

/// The future of [`Receiver::recv`].
#[must_use = "futures do nothing unless they are polled"]
pub struct Receiving<'a, T> {
    receiver: &'a mut Receiver<T>,
}

/// No part of a value is pinned: it is moved into the ring.
impl<T> Unpin for Sending<'_, T> {}

impl<T> Sending<'_, T> {
    fn attempt(&mut self) -> Poll<Result<(), SendError<T>>> {
        let value = self.value.take().expect("a future is not polled after it was ready");
        match self.sender.try_send(value) {
            Ok(()) => Poll::Ready(Ok(())),
            Err(TrySendError::Closed(value)) => Poll::Ready(Err(SendError(value))),
            Err(TrySendError::Full(value)) => {
                self.value = Some(value);
                Poll::Pending
            }
        }
    }
}

impl<T> Future for Sending<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let first = self.attempt();
        if first.is_ready() {
            return first;
        }
        self.sender.bells.sender.listen(context.waker());
        let second = self.attempt();
        if second.is_ready() {
            self.sender.bells.sender.stop();
        }
        second
    }
}

impl<T> Future for Receiving<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let receiver = &mut *self.receiver;
        match receiver.try_recv() {
            Ok(value) => return Poll::Ready(Some(value)),
            Err(TryRecvError::Closed) => return Poll::Ready(None),
            Err(TryRecvError::Empty) => receiver.bells.receiver.listen(context.waker()),
        }
        let second = match receiver.try_recv() {
            Ok(value) => Some(value),
            Err(TryRecvError::Closed) => None,
            Err(TryRecvError::Empty) => return Poll::Pending,
        };
        receiver.bells.receiver.stop();
        Poll::Ready(second)
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.bells.sender.leave();
        self.ringer.ring(&self.bells.receiver);
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.bells.receiver.leave();
        self.ringer.ring(&self.bells.sender);
        while self.reader.pop().is_some() {}
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut output = f.debug_struct("Sender");
        output.field("capacity", &self.capacity()).field("is_closed", &self.is_closed()).finish()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Sending<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").field("sender", &self.sender).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiving<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiving").field("receiver", &self.receiver).finish()
    }
}

#[cfg(all(test, raddle_loom))]
mod models {
    use super::*;
    use loom::thread;

    use crate::memory::model::{explore, explore_within};
    use crate::sync::block::block_on;

    /// Both ends wait. A lost wake-up shows as a deadlock of the model.
    fn all_arrive(capacity: usize, count: u32, then: fn(Receiver<u32>)) {
        explore_within(2, move || {
            let (mut sender, mut receiver) = ring(capacity);
            let sending = thread::spawn(move || {
                for value in 0..count {
                    block_on(sender.send(value)).unwrap();
                }
            });
            for expected in 0..count {
                assert_eq!(block_on(receiver.recv()), Some(expected));
            }
            then(receiver);
            sending.join().unwrap();
        });
    }

    #[test]
    fn values_arrive() {
        all_arrive(1, 2, drop);
        all_arrive(2, 2, drop);
    }

    #[test]
    fn the_end_comes_after_the_last_value() {
        all_arrive(1, 1, |mut receiver| assert_eq!(block_on(receiver.recv()), None));
        all_arrive(2, 1, |mut receiver| assert_eq!(block_on(receiver.recv()), None));
    }

    #[test]
    fn a_sender_that_waits_learns_that_the_receiver_is_gone() {
        explore(|| {
            let (mut sender, receiver) = ring(1);
            let value = Arc::new(());
            let sent = Arc::clone(&value);
            let sending =
                thread::spawn(move || while block_on(sender.send(Arc::clone(&sent))).is_ok() {});
            drop(receiver);
            sending.join().unwrap();
            assert_eq!(Arc::strong_count(&value), 1);
        });
    }
}
