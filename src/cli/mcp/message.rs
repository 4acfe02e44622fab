//! Messages of JSON-RPC 2.0, each in a line.

use memory_city::terminal::print;
use memory_city_heap::error::Result;
use memory_city_heap::printable::EscapeForm;
use memory_city_heap::progress::Snapshot;
use serde_json::{Value, json};
use std::io::{BufRead, Read as _};

/// Longest message, bytes.
const LONGEST: u64 = 1 << 20;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;

/// A message from the assistant.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// It expects a reply.
    Request(AssistantRequest),
    /// It expects none.
    Notification { method: String, params: Value },
    /// It cannot be understood: the reply that says so.
    Wrong(AssistantReply),
}

/// A request.
#[derive(Debug, PartialEq)]
pub(super) struct AssistantRequest {
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Value,
}

/// A message to the assistant.
#[derive(Debug, PartialEq, serde::Serialize)]
pub(super) struct AssistantReply(Value);

impl AssistantReply {
    pub(super) fn result(id: &Value, result: Value) -> AssistantReply {
        AssistantReply(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    pub(super) fn no_such_method(id: &Value, method: &str) -> AssistantReply {
        AssistantReply::error(id, METHOD_NOT_FOUND, &format!("There is no method {method}"))
    }

    pub(super) fn progress(token: &Value, now: &Snapshot) -> AssistantReply {
        let params = json!({ "progressToken": token, "progress": now.done, "total": now.total.max(now.done), "message": now.stage });
        AssistantReply(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))
    }

    fn error(id: &Value, code: i32, message: &str) -> AssistantReply {
        AssistantReply(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
    }
}

impl Incoming {
    /// `None` for a reply to something that was never asked.
    fn of(line: &[u8]) -> Option<Incoming> {
        let wrong = |id: &Value, code, message: &str| Some(Incoming::Wrong(AssistantReply::error(id, code, message)));
        let mut message: Value = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => return wrong(&Value::Null, PARSE_ERROR, &format!("This is no JSON: {error}")),
        };
        let Some(fields) = message.as_object_mut() else {
            return wrong(&Value::Null, INVALID_REQUEST, "A message is one JSON object in a line");
        };
        let (id, params) = (fields.remove("id"), fields.remove("params").unwrap_or_default());
        match (fields.remove("method"), id) {
            (Some(Value::String(method)), None) => Some(Incoming::Notification { method, params }),
            (Some(Value::String(method)), Some(id @ (Value::String(_) | Value::Number(_)))) => {
                Some(Incoming::Request(AssistantRequest { id, method, params }))
            }
            (None, Some(_)) if fields.contains_key("result") || fields.contains_key("error") => None,
            (_, id) => wrong(
                &id.unwrap_or_default(),
                INVALID_REQUEST,
                "A request has a method, and an id that is a text or a number",
            ),
        }
    }
}

/// Takes messages until there are no more, or `take` says that it wants none.
pub(super) fn read_all(mut from: impl BufRead, mut take: impl FnMut(Incoming) -> bool) {
    loop {
        let mut line = Vec::new();
        match from.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let is_whole = line.ends_with(b"\n") || (line.len() as u64) < LONGEST;
        let incoming = match is_whole {
            true if line.trim_ascii().is_empty() => None,
            true => Incoming::of(&line),
            false => {
                if from.skip_until(b'\n').is_err() {
                    return;
                }
                let message = format!("A message has at most {LONGEST} bytes");
                Some(Incoming::Wrong(AssistantReply::error(&Value::Null, INVALID_REQUEST, &message)))
            }
        };
        if incoming.is_some_and(|incoming| !take(incoming)) {
            return;
        }
    }
}

/// Sends a message.
///
/// # Errors
/// When it cannot be written.
pub(super) fn send(reply: &AssistantReply) -> Result<()> {
    print(EscapeForm::Json, |out| {
        serde_json::to_writer(&mut *out, reply)?;
        writeln!(out)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_message_whatever_it_holds() {
        let long = format!("{}\n", "x".repeat(LONGEST as usize + 5));
        let text = [
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n\n",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
            "{\"id\":3,\"result\":{}}\n[1]\nno json\n{\"id\":null,\"method\":\"ping\"}\n",
            &long,
            "{\"id\":\"a\",\"method\":\"ping\",\"params\":{\"n\":1}}",
        ]
        .concat();
        let mut all = Vec::new();
        read_all(text.as_bytes(), |incoming| {
            all.push(match incoming {
                Incoming::Request(request) => format!("{} {} {}", request.method, request.id, request.params),
                Incoming::Notification { method, .. } => method,
                Incoming::Wrong(reply) => reply.0["error"]["code"].to_string(),
            });
            true
        });
        let expected = [
            "ping 7 null",
            "notifications/initialized",
            "-32600",
            "-32700",
            "-32600",
            "-32600",
            "ping \"a\" {\"n\":1}",
        ];
        assert_eq!(all, expected);
    }

    /// 100,000 brackets end in an error, not in a stack without end.
    #[test]
    fn deep_messages_are_refused() {
        let mut replies = 0;
        read_all(&*vec![b'['; 100_000], |incoming| {
            assert!(matches!(incoming, Incoming::Wrong(_)));
            replies += 1;
            true
        });
        assert_eq!(replies, 1);
    }
}
