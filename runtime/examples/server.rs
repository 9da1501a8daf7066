//! An async server that leaves computing to a pool of workers.
//!
//! ```text
//! cargo run --release --example server -- [--workers N] [--port PORT] [NUMBER…]
//! ```
//!
//! It factors numbers, one in each line that it is sent. The async side only moves bytes; factoring
//! would keep it from serving others, so each line becomes a task of the runtime, whose handle is a
//! future. With `--port` it serves until it is interrupted. Without, it serves itself: it asks for each
//! NUMBER over a connection of its own, prints the answers in order, and ends.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

use std::error::Error;
use std::io::{self, Write};
use std::rc::Rc;

use raddle::Runtime;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};

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
    let pool = Runtime::builder().workers(options.number("--workers").unwrap_or(0)).build()?;
    let pool = Rc::new(pool);
    // One thread for all connections.
    let reactor = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let answers = LocalSet::new().block_on(&reactor, async {
        let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await;
        let listener = listener.map_err(|error| format!("cannot listen: {error}"))?;
        let address = listener.local_addr()?;
        let server = spawn_local(serve(listener, Rc::clone(&pool)));
        if port.is_some() {
            println!("listening on {address}");
            server.await??;
            return Ok(Vec::new());
        }
        let clients: Vec<_> = options
            .rest
            .iter()
            .map(|number| spawn_local(ask(address.port(), number.clone())))
            .collect();
        let mut answers = Vec::new();
        for client in clients {
            answers.push(client.await?.map_err(|error| format!("cannot ask: {error}"))?);
        }
        server.abort();
        Ok::<_, Box<dyn Error>>(answers)
    })?;
    for answer in answers {
        writeln!(output, "{answer}")?;
    }
    Ok(())
}

async fn serve(listener: TcpListener, pool: Rc<Runtime>) -> io::Result<()> {
    loop {
        let (connection, peer) = listener.accept().await?;
        let pool = Rc::clone(&pool);
        spawn_local(async move {
            // One that breaks off does not concern the others.
            if let Err(error) = answer(connection, &pool).await {
                eprintln!("{peer}: {error}");
            }
        });
    }
}

async fn answer(connection: TcpStream, pool: &Runtime) -> io::Result<()> {
    let (reader, mut writer) = connection.into_split();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = tokio::io::AsyncReadExt::take(&mut reader, LONGEST_LINE);
        if limited.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        // The connection waits, the thread does not.
        let answer = match text.parse::<u64>() {
            Ok(number) => pool.spawn(move |_task| factors(number)).await,
            Err(_) => Ok(format!("`{text}` is no number below 2^64")),
        };
        let answer = answer.unwrap_or_else(|error| error.to_string());
        writer.write_all(format!("{answer}\n").as_bytes()).await?;
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
