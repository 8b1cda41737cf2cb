//! Tests a client that stops reading.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use strata_lsp::transport::{ExitCause, TransportOptions};

use crate::mock::{Arg, LIMIT, World, call, change, frame, initialize, noop, sized};
use crate::ours::{read_message, run};

const ANSWER: usize = 10_000;
const REQUESTS: usize = 400;

#[derive(Default)]
struct BytesInTransit {
    requested: AtomicUsize,
    written: AtomicUsize,
    peak: AtomicUsize,
}

/// An input that returns one frame per read.
struct Input {
    frames: std::vec::IntoIter<Vec<u8>>,
    in_transit: Arc<BytesInTransit>,
    /// Notified when all frames have been read.
    finished_reading: Sender<()>,
    /// Ends the input when it is notified.
    end: Receiver<()>,
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let requested = self.in_transit.requested.load(Ordering::SeqCst) * ANSWER;
        let waiting = requested.saturating_sub(self.in_transit.written.load(Ordering::SeqCst));
        self.in_transit.peak.fetch_max(waiting, Ordering::SeqCst);
        let Some(frame) = self.frames.next() else {
            let _ = self.finished_reading.send(());
            let _ = self.end.recv();
            return Ok(0);
        };
        self.in_transit.requested.fetch_add(1, Ordering::SeqCst);
        buffer[..frame.len()].copy_from_slice(&frame);
        Ok(frame.len())
    }
}

/// An output whose first write blocks, like a full pipe.
struct Output {
    in_transit: Arc<BytesInTransit>,
    all_read: Option<Receiver<()>>,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(all_read) = self.all_read.take() {
            // Time for a faulty reader to read everything. On a slow machine, this may miss a fault, but it cannot fail
            // for a correct reader.
            let _ = all_read.recv_timeout(Duration::from_millis(500));
        }
        self.bytes.lock().unwrap().extend_from_slice(bytes);
        self.in_transit.written.fetch_add(bytes.len(), Ordering::SeqCst);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn no_input_is_accepted_while_the_client_does_not_read() {
    let options = TransportOptions { unsent: 50 * ANSWER, ..TransportOptions::default() };
    let requests = (1..=REQUESTS).map(|id| frame(&call(id, "test/big", sized(ANSWER))));
    let frames: Vec<_> = [frame(&initialize())].into_iter().chain(requests).collect();
    let in_transit = Arc::new(BytesInTransit::default());
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let (finished_reading, all_read) = mpsc::channel();
    let (end, ending) = mpsc::channel();
    let input = Input {
        frames: frames.into_iter(),
        in_transit: Arc::clone(&in_transit),
        finished_reading,
        end: ending,
    };
    let output =
        Output { in_transit: Arc::clone(&in_transit), all_read: Some(all_read), bytes: Arc::clone(&bytes) };
    let ended = run(&World::default(), input, output, options);
    drop(end);
    assert_eq!(ended.recv_timeout(LIMIT).unwrap().cause, ExitCause::EndOfInput);

    let peak = in_transit.peak.load(Ordering::SeqCst);
    assert!(peak <= options.unsent + 3 * ANSWER, "{peak} bytes were unsent");
    let bytes = bytes.lock().unwrap();
    let mut written = bytes.as_slice();
    let ids: Vec<_> =
        std::iter::from_fn(|| read_message(&mut written)).map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids[0], "initialize");
    assert_eq!(ids[1..], (1..=REQUESTS).map(Value::from).collect::<Vec<_>>(), "nothing is lost");
}

/// A client that never reads again and then dies does not block the end of the server.
#[test]
fn a_client_that_never_reads_again_can_still_end_the_server() {
    let (reader, mut input) = io::pipe().unwrap();
    let (output, writer) = io::pipe().unwrap();
    let options = TransportOptions { unsent: 100_000, ..TransportOptions::default() };
    let ended = run(&World::default(), reader, writer, options);
    input.write_all(&frame(&initialize())).unwrap();
    let requests: Vec<u8> = (1..=50).flat_map(|id| frame(&call(id, "test/big", sized(100_000)))).collect();
    input.write_all(&requests).unwrap();
    drop(output);
    let exit = ended.recv_timeout(LIMIT).unwrap();
    assert_eq!(exit.cause, ExitCause::OutputClosed);
}

/// Only the latest unsent notification of a state is kept, but all events are kept, in order.
#[test]
fn only_unsent_notifications_of_a_state_are_replaced() {
    let (reader, mut input) = io::pipe().unwrap();
    let (output, writer) = io::pipe().unwrap();
    let world = World::default();
    let ended = run(&world, reader, writer, TransportOptions::default());
    input.write_all(&frame(&initialize())).unwrap();
    // A pipe cannot hold this message, so the writer blocks from here on.
    input.write_all(&frame(&call(1, "test/big", sized(1 << 20)))).unwrap();
    for id in 2..=20 {
        let arg = Arg { name: id.to_string(), size: 50 };
        input.write_all(&frame(&call(id, "test/tell", arg))).unwrap();
    }
    (2..=20).for_each(|id| world.wait_for(&format!("told {id}")));
    input.write_all(&frame(&noop("last"))).unwrap();
    input.write_all(&frame(&change(1))).unwrap();
    // At this point, the previous answer and all notifications are queued.
    world.wait_for("change 1");

    let mut output = io::BufReader::new(output);
    let messages =
        std::iter::from_fn(|| read_message(&mut output)).take_while(|message| message["id"] != "last");
    let (mut states, mut events) = (Vec::new(), 0);
    for message in messages {
        match message["method"].as_str() {
            Some("strata/status") => states.push(message["params"]["count"].clone()),
            Some(_) => events += 1,
            None => {}
        }
    }
    assert_eq!((states, events), (vec![json!(50)], 19));
    drop(input);
    ended.recv_timeout(LIMIT).unwrap();
}
