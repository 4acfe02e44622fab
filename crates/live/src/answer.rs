//! Answers of the server: an `ack`, or a `refused` with the reason.

use memory_city_heap::error::Error;
use serde::Serialize;
use serde_json::value::RawValue;

/// An answer.
#[derive(Serialize)]
struct Reply<'a> {
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(rename = "do")]
    what: &'a str,
    #[serde(flatten)]
    more: ReplyMore,
}

/// Optional fields of an answer.
#[derive(Serialize, Default)]
pub(super) struct ReplyMore {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_message: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// The answer to the message `id` that asked for `what`, as JSON.
pub(super) fn text(
    id: Option<&RawValue>,
    what: &str,
    outcome: Result<ReplyMore, Error>,
    ignored: Vec<String>,
) -> String {
    let (event, mut more) = match outcome {
        Ok(more) => ("ack", more),
        Err(error) => ("refused", ReplyMore { why: Some(error.to_string()), ..ReplyMore::default() }),
    };
    more.ignored = ignored;
    // Plain texts and numbers: there is nothing that could fail to serialize.
    serde_json::to_string(&Reply { event, id, what, more }).unwrap_or_default()
}
