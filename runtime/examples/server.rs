//! An async server that leaves computing to a pool of workers.
//!
//! ```text
//! cargo run --release --example server -- [--workers N] [--port PORT] [NUMBER…]
//! ```
//!
//! It factors numbers, one in each line that it is sent. The async side only moves bytes; factoring
//! would keep it from serving others, so each line becomes a task of the runtime, whose handle is a
//! future. A second task counts the answer, and nobody has its handle.
//!
//! ```text
//! stop:  no new connections; no new lines, but the one in hand is answered; then
//!        `Runtime::shutdown` waits for all tasks, also for those without a handle
//! ```
//!
//! With `--port` it serves until it is interrupted. Without, it serves itself: it asks for each NUMBER
//! over a connection of its own, prints the answers in order, and stops.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

use std::error::Error;
use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use raddle::Runtime;
use raddle::sync::CancelToken;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, LocalSet, spawn_local};

#[path = "shared/options.rs"]
mod options;

const HELP: &str = "usage: server [--workers N] [--port PORT] [NUMBER…]";
/// A longer line is no number.
const LONGEST_LINE: u64 = 64;

fn main() -> std::process::ExitCode {
    options::exit_code(run(std::env::args().skip(1), &mut io::stdout().lock()))
}

pub(crate) fn run(
    arguments: impl Iterator<Item = String>,
    output: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read(arguments, HELP, &["--workers", "--port"])? else {
        return Ok(writeln!(output, "{HELP}")?);
    };
    let port = options.number("--port").map(u16::try_from).transpose();
    let port = port.map_err(|_| "--port needs a number up to 65535")?;
    let server = Server::new(options.number("--workers").unwrap_or(0))?;
    // One thread for all connections.
    let reactor = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let answers = LocalSet::new().block_on(&reactor, async {
        let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await;
        let listener = listener.map_err(|error| format!("cannot listen: {error}"))?;
        let address = listener.local_addr()?;
        let serving = spawn_local(Rc::clone(&server).serve(listener));
        let mut answers = Vec::new();
        if port.is_some() {
            println!("listening on {address}");
            tokio::signal::ctrl_c().await?;
        } else {
            let ask = |number: &String| spawn_local(ask(address.port(), number.clone()));
            let clients: Vec<_> = options.rest.iter().map(ask).collect();
            for client in clients {
                answers.push(client.await?.map_err(|error| format!("cannot ask: {error}"))?);
            }
        }
        server.stop.cancel();
        serving.await??;
        Ok::<_, Box<dyn Error>>(answers)
    })?;
    for answer in answers {
        writeln!(output, "{answer}")?;
    }
    Ok(writeln!(output, "{} lines were answered", server.end()?)?)
}

pub(crate) struct Server {
    pool: Runtime,
    /// Cancelled when the server is to stop.
    pub(crate) stop: CancelToken,
    answered: Arc<AtomicU64>,
}

impl Server {
    pub(crate) fn new(workers: usize) -> io::Result<Rc<Self>> {
        let pool = Runtime::builder().workers(workers).build()?;
        Ok(Rc::new(Self { pool, stop: CancelToken::new(), answered: Arc::default() }))
    }

    pub(crate) async fn serve(self: Rc<Self>, listener: TcpListener) -> io::Result<()> {
        let mut connections = JoinSet::new();
        while let Some(accepted) = self.unless_stopped(listener.accept()).await {
            let (connection, peer) = accepted?;
            let server = Rc::clone(&self);
            connections.spawn_local(async move {
                // One that breaks off does not concern the others.
                if let Err(error) = server.answer_all(connection).await {
                    eprintln!("{peer}: {error}");
                }
            });
            // Those that have ended are forgotten.
            while connections.try_join_next().is_some() {}
        }
        connections.join_all().await;
        Ok(())
    }

    async fn answer_all(&self, connection: TcpStream) -> io::Result<()> {
        let (reader, mut writer) = connection.into_split();
        let mut reader = BufReader::new(reader);
        loop {
            let mut line = Vec::new();
            let mut limited = (&mut reader).take(LONGEST_LINE);
            match self.unless_stopped(limited.read_until(b'\n', &mut line)).await {
                None | Some(Ok(0)) => return Ok(()),
                Some(read) => _ = read?,
            }
            let answer = self.answer(String::from_utf8_lossy(&line).trim()).await;
            writer.write_all(format!("{answer}\n").as_bytes()).await?;
        }
    }

    async fn answer(&self, line: &str) -> String {
        // The connection waits, the thread does not.
        let answer = match line.parse::<u64>() {
            Ok(number) => self.pool.spawn(move |_task| factors(number)).await,
            Err(_) => Ok(format!("`{line}` is no number below 2^64")),
        };
        let answered = Arc::clone(&self.answered);
        self.pool.spawn(move |_task| answered.fetch_add(1, Ordering::Relaxed)).detach();
        answer.unwrap_or_else(|error| error.to_string())
    }

    /// Waits for `future`; `None` if the server is to stop before it is ready.
    async fn unless_stopped<F: Future>(&self, future: F) -> Option<F::Output> {
        let (mut stopped, mut future) = (pin!(self.stop.cancelled()), pin!(future));
        poll_fn(|context| match stopped.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => future.as_mut().poll(context).map(Some),
        })
        .await
    }

    /// Waits for all tasks, and returns how many lines they have counted.
    pub(crate) fn end(self: Rc<Self>) -> Result<u64, Box<dyn Error>> {
        let server = Rc::into_inner(self).ok_or("somebody is still being served")?;
        server.pool.shutdown()?;
        Ok(server.answered.load(Ordering::Relaxed))
    }
}

async fn ask(port: u16, question: String) -> io::Result<String> {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).await?;
    connection.write_all(format!("{question}\n").as_bytes()).await?;
    let mut answer = String::new();
    BufReader::new(connection).read_line(&mut answer).await?;
    Ok(answer.trim_end().to_owned())
}

fn factors(number: u64) -> String {
    let (mut left, mut factors, mut candidate) = (number, Vec::new(), 2);
    while left > 1 && candidate <= left / candidate {
        while left.is_multiple_of(candidate) {
            factors.push(candidate.to_string());
            left /= candidate;
        }
        candidate += 1;
    }
    if left > 1 || factors.is_empty() {
        factors.push(left.to_string());
    }
    format!("{number} = {}", factors.join(" * "))
}
