//! Messages in a byte stream: `Content-Length`, an empty line, and JSON (LSP 3.17, "Base Protocol").

use std::io::{BufRead, Write};

use serde_json::Value;

/// Writes a message.
pub fn write(output: &mut impl Write, message: &Value) -> std::io::Result<()> {
    let body = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

/// Reads a message, or returns `None` at the end of the stream. Panics on anything that is not a message.
pub fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).unwrap() == 0 {
            assert_eq!(length, None, "the stream ends inside a message");
            return None;
        }
        let line = line.strip_suffix("\r\n").expect("a header line ends in CRLF");
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").expect("a header line has the form `name: value`");
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.parse().unwrap());
        }
    }
    let mut body = vec![0; length.expect("a message has a length")];
    input.read_exact(&mut body).unwrap();
    Some(serde_json::from_slice(&body).expect("a message is JSON"))
}
